ARG NODE=node:24.21.0-bookworm-slim

FROM ${NODE} AS build
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
# No install scripts: on Node 24 each native add-on loads a binary that its package brings (argon2, better-sqlite3 13
# under its alias), so no compiler is needed and no dependency runs code here.
RUN npm ci --ignore-scripts
COPY . .
# What goes last is the SQLite binding for Node 20, which is never loaded here.
RUN npm run build \
  && npm prune --omit=dev --ignore-scripts \
  && rm -rf node_modules/better-sqlite3

FROM ${NODE}
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/migrations migrations
COPY --from=build /app/dist dist
# `docker compose exec tollgate tollgate account list`
RUN ln -s /app/dist/cli/main.js /usr/local/bin/tollgate \
  && mkdir /data \
  && chown node:node /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATABASE_URL=file:/data/tollgate.db
VOLUME /data
EXPOSE 8080
USER node
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
