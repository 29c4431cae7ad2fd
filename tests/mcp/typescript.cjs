// The official TypeScript SDKs, 1.x and the client of 2.x, against `mk mcp`: tests/mcp/README.md
const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const { mkdtempSync } = require("node:fs");
const { createRequire } = require("node:module");
const { tmpdir } = require("node:os");
const path = require("node:path");

const mk = path.resolve(process.argv[2]);
const load = createRequire(path.join(process.env.NODE_PATH, "x.js"));

const REQUEST = "0123456789abcdef0123456789abcdef";

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
  ["mk_record_run", { command: "make test", exit_code: 0, output: "ok" }],
  ["mk_search", { query: "hello" }],
  ["mk_merge", { branch: "try", dry_run: true }],
  ["mk_watch", { after: 1, wait_s: 0 }],
  ["mk_exec_describe", { request_id: REQUEST }],
];

// The same for the tools of peers.
const OF_PEERS = {
  memkernel: [
    ["memkernel_query_state", {}],
    ["memkernel_init_task", { directive: "mend it", constraints: null }],
    ["memkernel_append_decision", { decision_key: "db", decision_value: "sqlite", rationale: "one file" }],
    ["memkernel_log_execution", { command: "make test", exit_code: 1, output: "FAILED", facts: { cc: "gcc" } }],
    ["memkernel_note", { note: "hello" }],
    ["memkernel_acquire_lease", { file_path: "a.rs" }],
    ["memkernel_acquire_lease", { file_path: "a.rs" }],
    ["memkernel_heartbeat_lease", { file_path: "a.rs", fencing_token: 1 }],
    ["memkernel_fenced_append_decision",
      { file_path: "a.rs", fencing_token: 1, decision_key: "a", decision_value: "b", rationale: "c" }],
    ["memkernel_release_lease", { file_path: "a.rs", fencing_token: 1 }],
    ["memkernel_fork_investigation", { fork_branch_name: "try" }],
    ["memkernel_checkout", { branch_id: "main" }],
    ["memkernel_diff_branches", { branch_a: "main", branch_b: "try" }],
    ["memkernel_rollback", { target_event_id: 3 }],
    ["memkernel_history", { limit: 5 }],
    ["memkernel_list_branches", {}],
    ["memkernel_trigger_gc", {}],
    ["memkernel_post_notice", { resource: "service:auth", message: "down" }],
    ["memkernel_list_notices", { resource: null }],
    ["memkernel_export_notices", {}],
    ["memkernel_import_notices", { document: '{"notices":[],"schema":"memkernel.notices/v1"}' }],
    ["memkernel_sync_status", {}],
    ["memkernel_query_state", { include_ephemeral: true }],
  ],
  memkraft: [["memkraft_execution_describe", { request_id: REQUEST }]],
};

async function drive(what, Client, StdioClientTransport) {
  await serve(what, ["--tools", "all"], CALLS, Client, StdioClientTransport);
  for (const [peer, calls] of Object.entries(OF_PEERS)) {
    await serve(`${what}, ${peer}`, ["--compat", peer], calls, Client, StdioClientTransport);
  }
}

async function serve(what, options, calls, Client, StdioClientTransport) {
  const cwd = mkdtempSync(path.join(tmpdir(), "mk-"));
  execFileSync(mk, ["init"], { cwd });
  const transport = new StdioClientTransport({ command: mk, args: ["mcp", ...options], cwd });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const called = new Set(calls.map(([name]) => name));
  const others = tools.map((tool) => tool.name).filter((name) => !called.has(name));
  // The client holds each answer against the output schema of its tool.
  for (const [name, args] of calls) {
    const result = await client.callTool({ name, arguments: args });
    assert(!result.isError, `${name}: ${JSON.stringify(result)}`);
  }
  // A refusal is an answer and not an exception, for every tool.
  for (const tool of tools) {
    const result = await client.callTool({ name: tool.name, arguments: { nonsense: 1 } });
    assert(result.isError && result.content.length === 2, `${tool.name}: ${JSON.stringify(result)}`);
  }
  await client.close();
  console.log(`ok: ${what}, ${called.size} tools` + (others.length ? `, not called: ${others}` : ""));
}

async function main() {
  const one = "@modelcontextprotocol/sdk/client";
  await drive("sdk 1", load(`${one}/index.js`).Client, load(`${one}/stdio.js`).StdioClientTransport);
  const two = await import(load.resolve("@modelcontextprotocol/client"));
  const stdio = await import(load.resolve("@modelcontextprotocol/client/stdio")).catch(() => two);
  await drive("client 2", two.Client, (stdio.StdioClientTransport ?? two.StdioClientTransport));
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
