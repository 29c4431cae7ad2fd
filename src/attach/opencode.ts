// Written by `mk attach opencode --hooks`, which writes over changes, and taken out by `mk detach opencode`.
//
// What happens goes as JSON to the stdin of COMMAND, and its answer is obeyed. If that fails, OpenCode goes on.
import { exec } from "node:child_process"
import type { Plugin } from "@opencode-ai/plugin"

const COMMAND = "mk hook opencode"

const TIMEOUT_MS = 5000

const EDITS = ["edit", "write", "apply_patch"]

type Answer = { decision?: string; reason?: string; hookSpecificOutput?: { additionalContext?: string } }

export const Mk: Plugin = async ({ client, directory }) => {
  // The server and the commands of shells inherit it, so that all of them hold their leases as one.
  const session = (process.env.MK_SESSION ||= crypto.randomUUID())
  const begun = new Set<string>()
  // What is to be told after an edit was made, by its call.
  const later = new Map<string, string>()

  const ask = (event: string, more: object = {}) =>
    new Promise<Answer>((resolve) => {
      const child = exec(COMMAND, { cwd: directory, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
        const trouble = stderr.trim() || error?.message
        if (trouble) client.app.log({ body: { service: "mk", level: "warn", message: trouble } }).catch(() => {})
        try {
          resolve(JSON.parse(stdout))
        } catch {
          resolve({})
        }
      })
      child.stdin?.on("error", () => {}) // It did not start, or did not read: told above.
      child.stdin?.end(JSON.stringify({ hook_event_name: event, session_id: session, cwd: directory, ...more }))
    })
  const told = (answer: Answer) => answer.hookSpecificOutput?.additionalContext

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const text = told(await ask(begun.has(sessionID) ? "chat.message" : "session.start"))
      begun.add(sessionID)
      const id = message.id.replace("msg_", "prt_") + "mk"
      if (text) parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
    },
    "tool.execute.before": async ({ tool, callID }, { args }) => {
      if (!EDITS.includes(tool)) return
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const answer = await ask("tool.execute.before", call)
      // The model reads it as what came of the call.
      if (answer.decision === "deny") throw new Error(answer.reason)
      const text = told(answer)
      if (text) later.set(callID, text)
    },
    "tool.execute.after": async ({ tool, callID, args }, result) => {
      if (tool !== "bash" && !EDITS.includes(tool)) return
      const response = { output: result.output, exit_code: result.metadata?.exit }
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID, tool_response: response }
      const texts = [later.get(callID), told(await ask("tool.execute.after", call))]
      later.delete(callID)
      for (const text of texts) if (text) result.output += `\n${text}`
    },
    dispose: async () => {
      await ask("dispose")
    },
  }
}
