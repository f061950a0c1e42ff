# The service as an image: built with the packages of the workspaces, run without them and without root. It writes to /data only.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sdk/package.json ./sdk/
COPY cli/package.json ./cli/
COPY mcp/package.json ./mcp/
COPY portal/package.json ./portal/
# npm records the installation by one of these.
COPY scripts ./scripts
RUN npm ci --omit=dev
COPY tsconfig.json ./
COPY src ./src
COPY sdk ./sdk
COPY mcp ./mcp
COPY portal ./portal
RUN npm run build -- service mcp portal && npm prune --omit=dev --workspaces=false

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 HEALTH_PORT=3001 METRICS=health DATA_DIR=/data
# glibc would keep a heap for each of a dozen threads: 12 MiB under load, 26 after it (docs/performance.md).
ENV MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/mcp/package.json ./mcp/
COPY --from=build /app/mcp/dist ./mcp/dist
COPY --from=build /app/portal/dist ./portal/dist
COPY templates ./templates
COPY LICENSE ./
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000 3001
# Every process answers there, whatever its roles.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.HEALTH_PORT + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
