// Written by `npm run schema`.

export const INITIALIZE = {
  "protocolVersion": "2025-11-25",
  "capabilities": {
    "tools": {},
    "resources": {},
    "extensions": {
      "io.modelcontextprotocol/tasks": {}
    }
  },
  "serverInfo": {
    "name": "darkroom",
    "title": "Darkroom",
    "version": "0.1.0"
  },
  "instructions": "Darkroom makes images and videos from prompts. Each creation is a task that goes on until it ends, also when you stop waiting. Call generate_image or generate_video; the answer is the finished task with links, or the unfinished task with its id. For an unfinished task call get_task with its id; never create it again, because each creation costs. An error names the argument and what is allowed: correct it and call again. To edit an image, give the id of a file of an earlier task (file_…) or an https link in reference_images. To vary a finished task, call retry_task with another prompt. Links expire after a while; get_task gives new ones. list_models says what each model takes. Show the user the links, because previews are small."
};
export const DISCOVER = {
  "supportedVersions": [
    "2026-07-28"
  ],
  "capabilities": {
    "tools": {},
    "resources": {},
    "extensions": {
      "io.modelcontextprotocol/tasks": {}
    }
  },
  "instructions": "Darkroom makes images and videos from prompts. Each creation is a task that goes on until it ends, also when you stop waiting. Call generate_image or generate_video; the answer is the finished task with links, or the unfinished task with its id. For an unfinished task call get_task with its id; never create it again, because each creation costs. An error names the argument and what is allowed: correct it and call again. To edit an image, give the id of a file of an earlier task (file_…) or an https link in reference_images. To vary a finished task, call retry_task with another prompt. Links expire after a while; get_task gives new ones. list_models says what each model takes. Show the user the links, because previews are small.",
  "resultType": "complete",
  "ttlMs": 3600000,
  "cacheScope": "public",
  "_meta": {
    "io.modelcontextprotocol/serverInfo": {
      "name": "darkroom",
      "title": "Darkroom",
      "version": "0.1.0"
    }
  }
};
export const TOOLS = [
  {
    "name": "generate_image",
    "title": "Generate images",
    "description": "Makes images from a prompt, or edits the images in reference_images. Returns the finished task with links and previews, or the unfinished task after wait_s.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "prompt": {
          "type": "string",
          "description": "What to make, in words. It must not be blank. gpt-image-2: at most 32000 characters; nano-banana-2, nano-banana-pro: at most 20000 characters.",
          "minLength": 1,
          "maxLength": 32000
        },
        "model": {
          "type": "string",
          "enum": [
            "gpt-image-2",
            "nano-banana-2",
            "nano-banana-pro"
          ],
          "default": "gpt-image-2",
          "description": "The model that makes it. gpt-image-2: General-purpose image model; the first recommendation. nano-banana-2: Fast image model. nano-banana-pro: High-quality image model, suited to refinement and to editing reference images."
        },
        "reference_images": {
          "type": "array",
          "description": "Images to follow or to edit: still JPEG, PNG or WebP files. gpt-image-2: at most 16; nano-banana-2, nano-banana-pro: at most 14.",
          "maxItems": 16,
          "items": {
            "type": "string",
            "description": "http(s) URL of at most 2048 characters, id of a file (`file_…`), or data:image/…;base64 URL of a still JPEG, PNG or WebP image."
          }
        },
        "mask": {
          "type": "string",
          "description": "Which part of the first of reference_images to change: where it is transparent, or white if it has no transparency. Only gpt-image-2."
        },
        "size": {
          "type": "string",
          "description": "The pixels, WIDTHxHEIGHT. Only gpt-image-2 (each a multiple of 16 from 16 to 3840, at least 655360 pixels, at most 8294400 pixels, at most 3 to 1)."
        },
        "aspect_ratio": {
          "type": "string",
          "description": "Width to height. \"auto\" leaves the choice to the model. gpt-image-2: auto 1:1 5:4 9:16 21:9 16:9 3:2 4:3 4:5 3:4 2:3, default auto; nano-banana-2, nano-banana-pro: auto 21:9 16:9 3:2 4:3 1:1 3:4 2:3 9:16, default auto.",
          "enum": [
            "auto",
            "1:1",
            "5:4",
            "9:16",
            "21:9",
            "16:9",
            "3:2",
            "4:3",
            "4:5",
            "3:4",
            "2:3"
          ]
        },
        "resolution": {
          "type": "string",
          "description": "Size class of the image. gpt-image-2: 1K 2K 4K, default 1K; nano-banana-2, nano-banana-pro: 2K 4K, default 2K.",
          "enum": [
            "1K",
            "2K",
            "4K"
          ]
        },
        "n": {
          "type": "integer",
          "description": "How many images to make. gpt-image-2: 1 to 10, default 1; nano-banana-2, nano-banana-pro: 1 to 4, default 1.",
          "minimum": 1,
          "maximum": 10
        },
        "quality": {
          "type": "string",
          "description": "How much work the model puts into an image. \"auto\" leaves the choice to the model. Only gpt-image-2 (auto low medium high, default auto).",
          "enum": [
            "auto",
            "low",
            "medium",
            "high"
          ]
        },
        "background": {
          "type": "string",
          "description": "Whether what is behind the subject is transparent. Only gpt-image-2 (auto opaque transparent).",
          "enum": [
            "auto",
            "opaque",
            "transparent"
          ]
        },
        "output_format": {
          "type": "string",
          "description": "File format of the images. When left out, the file is as the provider made it.",
          "enum": [
            "png",
            "jpeg",
            "webp"
          ]
        },
        "wait_s": {
          "type": "integer",
          "minimum": 0,
          "maximum": 300,
          "default": 45,
          "description": "Seconds to wait for the end. The answer comes earlier if the task ends, and later with get_task."
        },
        "preview": {
          "type": "string",
          "enum": [
            "inline",
            "none"
          ],
          "default": "inline",
          "description": "Whether the answer carries a small JPEG of each output, for you to look at. The links lead to the originals."
        }
      },
      "required": [
        "prompt"
      ],
      "additionalProperties": false
    },
    "annotations": {
      "title": "Generate images",
      "readOnlyHint": false,
      "destructiveHint": false,
      "idempotentHint": false,
      "openWorldHint": true
    },
    "_meta": {
      "ui": {
        "resourceUri": "ui://darkroom/viewer"
      }
    }
  },
  {
    "name": "generate_video",
    "title": "Generate a video",
    "description": "Makes a video from a prompt, and optionally from an image. A video takes minutes: the answer is often the unfinished task; then call get_task.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "prompt": {
          "type": "string",
          "description": "What to make, in words. It must not be blank. sora-2: at most 32000 characters; seedance-2: at most 3500 characters.",
          "minLength": 1,
          "maxLength": 32000
        },
        "model": {
          "type": "string",
          "enum": [
            "sora-2",
            "seedance-2"
          ],
          "default": "sora-2",
          "description": "The model that makes it. sora-2: Standard video model of the Global region. seedance-2: Standard video model of the China region."
        },
        "first_frame_image_url": {
          "type": "string",
          "description": "http(s) URL of a still JPEG, PNG or WebP image for the video to start from."
        },
        "last_frame_image_url": {
          "type": "string",
          "description": "http(s) URL of a still JPEG, PNG or WebP image for the video to end with."
        },
        "reference_image_url": {
          "type": "string",
          "description": "http(s) URL of a still JPEG, PNG or WebP image to follow; not with reference_mode \"first_frame\". Only seedance-2."
        },
        "reference_mode": {
          "type": "string",
          "description": "How the image guides the video. sora-2: omni first_last multi_frame, default omni; seedance-2: omni first_frame, default omni.",
          "enum": [
            "omni",
            "first_last",
            "multi_frame",
            "first_frame"
          ]
        },
        "aspect_ratio": {
          "type": "string",
          "description": "Width to height. sora-2: 21:9 16:9 4:3 1:1 3:4 9:16, default 16:9; seedance-2: 21:9 16:9 4:3 1:1 3:4 9:16, default 21:9.",
          "enum": [
            "21:9",
            "16:9",
            "4:3",
            "1:1",
            "3:4",
            "9:16"
          ]
        },
        "resolution": {
          "type": "string",
          "description": "Size class of the video. sora-2: 720P 1080P 4K, default 1080P; seedance-2: 720p 1080p, default 720p.",
          "enum": [
            "720P",
            "1080P",
            "4K",
            "720p",
            "1080p"
          ]
        },
        "seed": {
          "type": "integer",
          "description": "The same seed with the same parameters gives a similar result; random when left out.",
          "minimum": 0,
          "maximum": 2147483647
        },
        "duration": {
          "type": "integer",
          "description": "Length of the video in seconds. sora-2: 1 to 20, default 5; seedance-2: 4 to 15, default 5.",
          "minimum": 1,
          "maximum": 20
        },
        "generate_audio": {
          "type": "boolean",
          "description": "Whether the video has sound; a provider makes it when left out."
        },
        "wait_s": {
          "type": "integer",
          "minimum": 0,
          "maximum": 300,
          "default": 45,
          "description": "Seconds to wait for the end. The answer comes earlier if the task ends, and later with get_task."
        }
      },
      "required": [
        "prompt"
      ],
      "additionalProperties": false
    },
    "annotations": {
      "title": "Generate a video",
      "readOnlyHint": false,
      "destructiveHint": false,
      "idempotentHint": false,
      "openWorldHint": true
    },
    "_meta": {
      "ui": {
        "resourceUri": "ui://darkroom/viewer"
      }
    }
  },
  {
    "name": "get_task",
    "title": "Get a task",
    "description": "Reads a task and waits for its end, up to wait_s. Also gives new links to its files.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "task_id": {
          "type": "string",
          "description": "The id of the task, task_…."
        },
        "wait_s": {
          "type": "integer",
          "minimum": 0,
          "maximum": 300,
          "default": 45,
          "description": "Seconds to wait for the end. The answer comes earlier if the task ends, and later with get_task."
        },
        "preview": {
          "type": "string",
          "enum": [
            "inline",
            "none"
          ],
          "default": "inline",
          "description": "Whether the answer carries a small JPEG of each output, for you to look at. The links lead to the originals."
        }
      },
      "required": [
        "task_id"
      ],
      "additionalProperties": false
    },
    "annotations": {
      "title": "Get a task",
      "readOnlyHint": true,
      "openWorldHint": false
    },
    "_meta": {
      "ui": {
        "resourceUri": "ui://darkroom/viewer"
      }
    }
  },
  {
    "name": "list_tasks",
    "title": "List tasks",
    "description": "Lists your tasks, the newest first, by whichever interface they were created.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "status": {
          "type": "string",
          "enum": [
            "queued",
            "running",
            "succeeded",
            "failed"
          ],
          "description": "Only tasks with this status."
        },
        "kind": {
          "type": "string",
          "enum": [
            "image",
            "video"
          ],
          "description": "Only tasks that make this."
        },
        "model": {
          "type": "string",
          "enum": [
            "gpt-image-2",
            "nano-banana-2",
            "nano-banana-pro",
            "sora-2",
            "seedance-2"
          ],
          "description": "Only tasks of this model."
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 50,
          "default": 10,
          "description": "Tasks per page."
        },
        "after": {
          "type": "string",
          "description": "The last_id of the page before."
        }
      },
      "required": [],
      "additionalProperties": false
    },
    "annotations": {
      "title": "List tasks",
      "readOnlyHint": true,
      "openWorldHint": false
    }
  },
  {
    "name": "cancel_task",
    "title": "Cancel a task",
    "description": "Cancels an unfinished task. A finished one stays as it is. What a provider has begun may still cost.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "task_id": {
          "type": "string",
          "description": "The id of the task, task_…."
        }
      },
      "required": [
        "task_id"
      ],
      "additionalProperties": false
    },
    "annotations": {
      "title": "Cancel a task",
      "readOnlyHint": false,
      "destructiveHint": true,
      "idempotentHint": true,
      "openWorldHint": true
    }
  },
  {
    "name": "retry_task",
    "title": "Make a task again",
    "description": "Makes a new task from a finished one, with the same parameters, or with another prompt. Returns the new task.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "task_id": {
          "type": "string",
          "description": "The id of the finished task, task_…."
        },
        "prompt": {
          "type": "string",
          "description": "The prompt of the new task; that of the first one when left out."
        },
        "wait_s": {
          "type": "integer",
          "minimum": 0,
          "maximum": 300,
          "default": 45,
          "description": "Seconds to wait for the end. The answer comes earlier if the task ends, and later with get_task."
        }
      },
      "required": [
        "task_id"
      ],
      "additionalProperties": false
    },
    "annotations": {
      "title": "Make a task again",
      "readOnlyHint": false,
      "destructiveHint": false,
      "idempotentHint": false,
      "openWorldHint": true
    },
    "_meta": {
      "ui": {
        "resourceUri": "ui://darkroom/viewer"
      }
    }
  },
  {
    "name": "keep_task",
    "title": "Keep a task",
    "description": "Keeps a finished task with its files: they are not deleted when their retention ends, until it is given up.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "task_id": {
          "type": "string",
          "description": "The id of the task, task_…."
        },
        "keep": {
          "type": "boolean",
          "default": true,
          "description": "false gives the task up."
        },
        "collection": {
          "type": "string",
          "minLength": 1,
          "maxLength": 64,
          "description": "The name under which it is kept."
        }
      },
      "required": [
        "task_id"
      ],
      "additionalProperties": false
    },
    "annotations": {
      "title": "Keep a task",
      "readOnlyHint": false,
      "destructiveHint": false,
      "idempotentHint": true,
      "openWorldHint": false
    }
  },
  {
    "name": "list_models",
    "title": "List models",
    "description": "Lists the models with every parameter, allowed value and default, and whether they work now.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "kind": {
          "type": "string",
          "enum": [
            "image",
            "video"
          ],
          "description": "Only models that make this."
        },
        "model": {
          "type": "string",
          "description": "Only the model of this id."
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "default": 50,
          "description": "Most models of the answer."
        },
        "after": {
          "type": "string",
          "description": "The id of the last model of the answer before."
        }
      },
      "required": [],
      "additionalProperties": false
    },
    "annotations": {
      "title": "List models",
      "readOnlyHint": true,
      "openWorldHint": false
    }
  },
  {
    "name": "get_usage",
    "title": "Get usage",
    "description": "Sums what your tasks of the last days used and cost, by model.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "days": {
          "type": "integer",
          "minimum": 1,
          "maximum": 90,
          "default": 30,
          "description": "How many days back."
        }
      },
      "required": [],
      "additionalProperties": false
    },
    "annotations": {
      "title": "Get usage",
      "readOnlyHint": true,
      "openWorldHint": false
    }
  }
];
export const MODERN_LIST = {
  "resultType": "complete",
  "ttlMs": 3600000,
  "cacheScope": "public",
  "_meta": {
    "io.modelcontextprotocol/serverInfo": {
      "name": "darkroom",
      "title": "Darkroom",
      "version": "0.1.0"
    }
  }
};
