/** One node of a workflow in ComfyUI's API format. A link to another node's output is `[node id, output index]`. */
export interface WorkflowNode {
  class_type: string;
  inputs: Record<string, unknown>;
}

/** The nodes by their ids. A string input may contain slots such as `{{prompt}}`. */
export type Workflow = Record<string, WorkflowNode>;
