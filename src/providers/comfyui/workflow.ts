/** One node of a workflow in ComfyUI's API format; a link to another node's output is `[node id, output index]`. */
export interface WorkflowNode {
  class_type: string;
  inputs: Record<string, unknown>;
}

/** Node id to node. A string input may contain slots such as `{{prompt}}`. */
export type Workflow = Record<string, WorkflowNode>;
