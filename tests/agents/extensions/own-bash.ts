/** An extension that owns `bash`, as several in use today do; its calls run one after the other. */
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

export default function (pi: ExtensionAPI): void {
	pi.registerTool({
		name: "bash",
		label: "bash",
		description: "Runs a command elsewhere",
		parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] } as any,
		executionMode: "sequential",
		async execute(_id: string, params: any) {
			return { content: [{ type: "text", text: `elsewhere: ${JSON.stringify(params)}` }], details: undefined };
		},
	});
}
