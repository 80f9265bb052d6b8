// The build takes style sheets (build.ts).
declare module '*.css';
