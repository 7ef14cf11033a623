/**
 * pi's own four tools under their own names, with schemas that belong to this load of the extension:
 * a policy that asks for less then takes effect at /reload. The definitions are pi's, whole.
 */
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import * as host from "@mariozechner/pi-coding-agent";

const FACTORIES = ["createReadToolDefinition", "createBashToolDefinition", "createEditToolDefinition", "createWriteToolDefinition"];

/** Register a replacement of each of pi's four tools that this pi has a definition for. */
export function shadow(pi: ExtensionAPI): void {
	for (const factory of FACTORIES) {
		const make = (host as any)[factory];
		if (typeof make !== "function") throw new Error(`this pi has no ${factory}; install without --shadow`);
		const base = make(process.cwd());
		pi.registerTool({
			...base,
			parameters: JSON.parse(JSON.stringify(base.parameters)),
			execute: (id: string, params: any, signal: any, onUpdate: any, ctx: any) =>
				make(ctx.cwd).execute(id, params, signal, onUpdate, ctx),
		});
	}
}
