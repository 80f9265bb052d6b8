// Loaded ahead of every program of package.json's scripts, and first by those of dist/: a Node that is too old would only say that
// it knows no ".ts", or less. Plain JavaScript for that reason, and nothing that an old Node lacks.
const NEEDS = [24, 15];
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < NEEDS[0] || (major === NEEDS[0] && minor < NEEDS[1])) {
  console.error(
    `Realmkeeper needs Node ${NEEDS.join('.')} or newer; this is ${process.versions.node}. ` +
      'On Linux with x64 `npm ci` brings it along, for what `npm run` starts; elsewhere install it from https://nodejs.org.',
  );
  process.exit(1);
}
