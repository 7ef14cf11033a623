// A codemode script of pi 1.x that calls tools with and without their reasons.
const out = [];
const tried = async (name, call) => {
  try {
    out.push(`${name} ran: ${JSON.stringify(await call())}`);
  } catch (error) {
    out.push(`${name} failed: ${error.message}`);
  }
};
await tried("bare", () => tools.mcp__coded__transfer({ amount: 5 }));
const intent = "Pay the invoice of the printer";
await tried("paid", () => tools.mcp__coded__transfer({ amount: 6, intent }));
await tried("write", () => tools.write({ path: "script.txt", content: "x" }));
out.push(JSON.stringify(await describeTool("mcp__coded__transfer")));
return out.join("\n---\n");
