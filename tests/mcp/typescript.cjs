// The official TypeScript SDKs, 1.x and the client of 2.x, against `mk mcp`: tests/mcp/README.md
const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const { mkdtempSync } = require("node:fs");
const { createRequire } = require("node:module");
const { tmpdir } = require("node:os");
const path = require("node:path");

const mk = path.resolve(process.argv[2]);
const load = createRequire(path.join(process.env.NODE_PATH, "x.js"));

// One call that succeeds of every tool, in an order in which each has what it needs.
const CALLS = [
  ["mk_task", { directive: "mend it", constraints: ["keep the API"] }],
  ["mk_decide", { key: "db", value: "sqlite", rationale: "one file" }],
  ["mk_fact", { facts: { tests: 12 } }],
  ["mk_note", { note: "hello" }],
  ["mk_lease_acquire", { resources: ["a.rs"], ttl_s: 60 }],
  ["mk_lease_renew", { resource: "a.rs", token: 1 }],
  ["mk_lease_check", { resources: ["a.rs"] }],
  ["mk_lease_list", {}],
  ["mk_lease_release", { resource: "a.rs", token: 1 }],
  ["mk_fork", { name: "try", switch: true }],
  ["mk_switch", { branch: "main" }],
  ["mk_diff", { a: "try" }],
  ["mk_undo", {}],
  ["mk_rollback", { event: "main~1" }],
  ["mk_context", {}],
  ["mk_log", { full: true }],
  ["mk_show", { event: "1" }],
  ["mk_status", {}],
  ["mk_branch", {}],
  ["mk_blame", { key: "db" }],
  ["mk_stats", {}],
  ["mk_verify", {}],
  ["mk_gc", { dry_run: true }],
  ["mk_notice_post", { resource: "service:auth", message: "down" }],
  ["mk_notice_list", {}],
];

async function drive(what, Client, StdioClientTransport) {
  const cwd = mkdtempSync(path.join(tmpdir(), "mk-"));
  execFileSync(mk, ["init"], { cwd });
  const transport = new StdioClientTransport({ command: mk, args: ["mcp", "--tools", "all"], cwd });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const called = new Set(CALLS.map(([name]) => name));
  const others = tools.map((tool) => tool.name).filter((name) => !called.has(name));
  // The client holds each answer against the output schema of its tool.
  for (const [name, args] of CALLS) {
    const result = await client.callTool({ name, arguments: args });
    assert(!result.isError, `${name}: ${JSON.stringify(result)}`);
  }
  // A refusal is an answer and not an exception, for every tool.
  for (const tool of tools) {
    const result = await client.callTool({ name: tool.name, arguments: { nonsense: 1 } });
    assert(result.isError && result.content.length === 2, `${tool.name}: ${JSON.stringify(result)}`);
  }
  await client.close();
  console.log(`ok: ${what}, ${CALLS.length} tools` + (others.length ? `, not called: ${others}` : ""));
}

async function main() {
  const one = "@modelcontextprotocol/sdk/client";
  await drive("sdk 1", load(`${one}/index.js`).Client, load(`${one}/stdio.js`).StdioClientTransport);
  const two = await import(load.resolve("@modelcontextprotocol/client"));
  const stdio = await import(load.resolve("@modelcontextprotocol/client/stdio")).catch(() => two);
  await drive("client 2", two.Client, (stdio.StdioClientTransport ?? two.StdioClientTransport));
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
