/** A model on loopback for `tool-intent doctor`, known to this one session of pi only. */
export default function (pi: any): void {
	pi.registerProvider("tool-intent-canary", {
		baseUrl: process.env.TOOL_INTENT_CANARY,
		apiKey: "none",
		api: "openai-completions",
		models: [
			{
				id: "canary",
				name: "canary",
				reasoning: false,
				input: ["text"],
				cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
				contextWindow: 1_000_000,
				maxTokens: 1_000,
				compat: { supportsDeveloperRole: false, supportsReasoningEffort: false },
			},
		],
	});
}
