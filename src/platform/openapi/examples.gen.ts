// Written by `npm run examples` from calls of a running service. Do not edit.
/** One real call of each operation, by method and path. */
export const EXAMPLES: Record<string, { parameters?: object; request?: unknown; response?: unknown }> = {
  "POST /v1/webhook_endpoints": {
    "parameters": {},
    "request": {
      "url": "https://shop.example/hooks",
      "events": [
        "task.completed",
        "task.failed"
      ],
      "description": "the shop"
    },
    "response": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
      "object": "webhook_endpoint",
      "url": "https://shop.example/hooks",
      "events": [
        "task.completed",
        "task.failed"
      ],
      "description": "the shop",
      "status": "enabled",
      "disabled_reason": null,
      "failing_since": null,
      "secret_hint": "…L2ms",
      "old_secret_until": null,
      "created_at": 1790000000,
      "secret": "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    }
  },
  "GET /v1/webhook_endpoints": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
          "object": "webhook_endpoint",
          "url": "https://shop.example/hooks",
          "events": [
            "task.completed",
            "task.failed"
          ],
          "description": "the shop",
          "status": "enabled",
          "disabled_reason": null,
          "failing_since": null,
          "secret_hint": "…L2ms",
          "old_secret_until": null,
          "created_at": 1790000000
        }
      ],
      "has_more": false,
      "first_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
      "last_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    }
  },
  "GET /v1/webhook_endpoints/{id}": {
    "parameters": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "response": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
      "object": "webhook_endpoint",
      "url": "https://shop.example/hooks",
      "events": [
        "task.completed",
        "task.failed"
      ],
      "description": "the shop",
      "status": "enabled",
      "disabled_reason": null,
      "failing_since": null,
      "secret_hint": "…L2ms",
      "old_secret_until": null,
      "created_at": 1790000000
    }
  },
  "POST /v1/generations": {
    "parameters": {},
    "request": {
      "model": "gpt-image-2",
      "prompt": "A lighthouse at dusk",
      "aspect_ratio": "3:2",
      "resolution": "1K",
      "metadata": {
        "order": "1042"
      }
    },
    "response": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
      "object": "task",
      "kind": "image",
      "model": "gpt-image-2",
      "status": "queued",
      "progress": 0,
      "created_at": 1790000000,
      "completed_at": 0,
      "input": {
        "prompt": "A lighthouse at dusk",
        "aspect_ratio": "3:2",
        "resolution": "1K",
        "n": 1,
        "quality": "auto"
      },
      "metadata": {
        "order": "1042"
      },
      "started_at": 0,
      "expires_at": 1792592000,
      "source": "api",
      "priority": "normal",
      "parent_task_id": null,
      "relation": null,
      "batch": null
    }
  },
  "GET /v1/tasks/{task_id}/estimate": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01"
    },
    "response": {
      "object": "task_estimate",
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
      "status": "running",
      "position": null,
      "waiting_for": null,
      "estimated_start_at": null,
      "estimated_completion_at": null,
      "sampled_at": 1790000000
    }
  },
  "GET /v1/tasks/{task_id}/events": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01"
    },
    "response": ": open\n\nid: 2\ndata: {\"task_id\":\"task_01jd8e5t9kf3qs7m2v4xw6ya01\",\"object\":\"task\",\"kind\":\"image\",\"model\":\"gpt-image-2\",\"status\":\"running\",\"progress\":0,\"created_at\":1790000000,\"completed_at\":0,\"input\":{\"prompt\":\"A lighthouse at dusk\",\"aspect_ratio\":\"3:2\",\"resolution\":\"1K\",\"n\":1,\"quality\":\"auto\"},\"metadata\":{\"order\":\"1042\"},\"started_at\":1790000000,\"expires_at\":1792592000,\"source\":\"api\",\"priority\":\"normal\",\"parent_task_id\":null,\"relation\":null,\"batch\":null}\n\nid: 3\ndata: {\"task_id\":\"task_01jd8e5t9kf3qs7m2v4xw6ya01\",\"object\":\"task\",\"kind\":\"image\",\"model\":\"gpt-image-2\",\"status\":\"succeeded\",\"progress\":100,\"created_at\":1790000000,\"completed_at\":1790000000,\"result\":{\"outputs\":[{\"id\":\"file_01jd8e5t9kf3qs7m2v4xw6ya01_0\",\"index\":0,\"type\":\"image\",\"content_type\":\"image/png\",\"size_bytes\":293506,\"width\":1536,\"height\":1024,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"url\":\"http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya01_0/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"url_expires_at\":1790003860}],\"expires_at\":1790604800},\"input\":{\"prompt\":\"A lighthouse at dusk\",\"aspect_ratio\":\"3:2\",\"resolution\":\"1K\",\"n\":1,\"quality\":\"auto\"},\"metadata\":{\"order\":\"1042\"},\"started_at\":1790000000,\"expires_at\":1792592000,\"source\":\"api\",\"priority\":\"normal\",\"parent_task_id\":null,\"relation\":null,\"batch\":null,\"usage\":{\"images\":1,\"video_seconds\":0,\"resolution\":\"1K\",\"quality\":\"auto\",\"provider\":\"sandbox\",\"submits\":0,\"tokens\":null,\"cost\":{\"amount_micros\":0,\"currency\":\"USD\",\"basis\":\"unpriced\"}}}\n\n"
  },
  "GET /v1/tasks/{task_id}": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01"
    },
    "response": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
      "object": "task",
      "kind": "image",
      "model": "gpt-image-2",
      "status": "succeeded",
      "progress": 100,
      "created_at": 1790000000,
      "completed_at": 1790000000,
      "result": {
        "outputs": [
          {
            "id": "file_01jd8e5t9kf3qs7m2v4xw6ya01_0",
            "index": 0,
            "type": "image",
            "content_type": "image/png",
            "size_bytes": 293506,
            "width": 1536,
            "height": 1024,
            "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "url": "http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya01_0/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "url_expires_at": 1790003860
          }
        ],
        "expires_at": 1790604800
      },
      "input": {
        "prompt": "A lighthouse at dusk",
        "aspect_ratio": "3:2",
        "resolution": "1K",
        "n": 1,
        "quality": "auto"
      },
      "metadata": {
        "order": "1042"
      },
      "started_at": 1790000000,
      "expires_at": 1792592000,
      "source": "api",
      "priority": "normal",
      "parent_task_id": null,
      "relation": null,
      "batch": null,
      "usage": {
        "images": 1,
        "video_seconds": 0,
        "resolution": "1K",
        "quality": "auto",
        "provider": "sandbox",
        "submits": 0,
        "tokens": null,
        "cost": {
          "amount_micros": 0,
          "currency": "USD",
          "basis": "unpriced"
        }
      }
    }
  },
  "GET /v1/tasks/{task_id}/timeline": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01"
    },
    "response": {
      "object": "list",
      "data": [
        {
          "at_ms": 1795433140338,
          "type": "queued",
          "attempt": 0,
          "provider": null,
          "detail": null
        },
        {
          "at_ms": 1795433140357,
          "type": "started",
          "attempt": 1,
          "provider": null,
          "detail": null
        }
      ],
      "has_more": false
    }
  },
  "GET /v1/tasks": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
          "object": "task",
          "kind": "image",
          "model": "gpt-image-2",
          "status": "succeeded",
          "progress": 100,
          "created_at": 1790000000,
          "completed_at": 1790000000,
          "result": {
            "outputs": [
              {
                "id": "file_01jd8e5t9kf3qs7m2v4xw6ya01_0",
                "index": 0,
                "type": "image",
                "content_type": "image/png",
                "size_bytes": 293506,
                "width": 1536,
                "height": 1024,
                "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "url": "http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya01_0/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "url_expires_at": 1790003860
              }
            ],
            "expires_at": 1790604800
          },
          "input": {
            "prompt": "A lighthouse at dusk",
            "aspect_ratio": "3:2",
            "resolution": "1K",
            "n": 1,
            "quality": "auto"
          },
          "metadata": {
            "order": "1042"
          },
          "started_at": 1790000000,
          "expires_at": 1792592000,
          "source": "api",
          "priority": "normal",
          "parent_task_id": null,
          "relation": null,
          "batch": null,
          "usage": {
            "images": 1,
            "video_seconds": 0,
            "resolution": "1K",
            "quality": "auto",
            "provider": "sandbox",
            "submits": 0,
            "tokens": null,
            "cost": {
              "amount_micros": 0,
              "currency": "USD",
              "basis": "unpriced"
            }
          }
        }
      ],
      "has_more": false,
      "first_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
      "last_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01"
    }
  },
  "GET /v1/tasks/counts": {
    "parameters": {},
    "response": {
      "queued": 0,
      "running": 0,
      "succeeded": 1,
      "failed": 0,
      "capped": false
    }
  },
  "POST /v1/estimates": {
    "parameters": {},
    "request": {
      "model": "gpt-image-2",
      "prompt": "A lighthouse at dusk",
      "aspect_ratio": "3:2",
      "resolution": "1K",
      "metadata": {
        "order": "1042"
      }
    },
    "response": {
      "object": "estimate",
      "model": "gpt-image-2",
      "kind": "image",
      "input": {
        "prompt": "A lighthouse at dusk",
        "aspect_ratio": "3:2",
        "resolution": "1K",
        "n": 1,
        "quality": "auto"
      },
      "cost": {
        "amount_micros": 0,
        "currency": "USD",
        "basis": "unpriced"
      },
      "estimated_start_at": null,
      "estimated_completion_at": null,
      "within_budget": true
    }
  },
  "POST /v1/tasks/{task_id}/retry": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01"
    },
    "request": {
      "input": {
        "prompt": "A lighthouse in fog"
      }
    },
    "response": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya02",
      "object": "task",
      "kind": "image",
      "model": "gpt-image-2",
      "status": "queued",
      "progress": 0,
      "created_at": 1790000000,
      "completed_at": 0,
      "input": {
        "prompt": "A lighthouse in fog",
        "aspect_ratio": "3:2",
        "resolution": "1K",
        "n": 1,
        "quality": "auto"
      },
      "metadata": {
        "order": "1042"
      },
      "started_at": 0,
      "expires_at": 1792592000,
      "source": "api",
      "priority": "normal",
      "parent_task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
      "relation": "variation",
      "batch": null
    }
  },
  "GET /v1/events": {
    "parameters": {},
    "response": ": open\n\nid: mwt6j9st\ndata: {\"task_id\":\"task_01jd8e5t9kf3qs7m2v4xw6ya03\",\"object\":\"task\",\"kind\":\"image\",\"model\":\"gpt-image-2\",\"status\":\"running\",\"progress\":0,\"created_at\":1790000000,\"completed_at\":0,\"input\":{\"prompt\":\"A slow river #hang\",\"aspect_ratio\":\"auto\",\"resolution\":\"1K\",\"n\":1,\"quality\":\"auto\"},\"metadata\":{},\"started_at\":1790000000,\"expires_at\":1792592000,\"source\":\"api\",\"priority\":\"normal\",\"parent_task_id\":null,\"relation\":null,\"batch\":null}\n\n"
  },
  "POST /v1/tasks/{task_id}/cancel": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya03"
    },
    "response": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya03",
      "object": "task",
      "kind": "image",
      "model": "gpt-image-2",
      "status": "failed",
      "progress": 0,
      "created_at": 1790000000,
      "completed_at": 1790000000,
      "error": {
        "code": "task_cancelled",
        "message": "The task was cancelled.",
        "retryable": false
      },
      "input": {
        "prompt": "A slow river #hang",
        "aspect_ratio": "auto",
        "resolution": "1K",
        "n": 1,
        "quality": "auto"
      },
      "metadata": {},
      "started_at": 1790000000,
      "expires_at": 1792592000,
      "source": "api",
      "priority": "normal",
      "parent_task_id": null,
      "relation": null,
      "batch": null,
      "usage": {
        "images": 0,
        "video_seconds": 0,
        "resolution": "1K",
        "quality": "auto",
        "provider": null,
        "submits": 0,
        "tokens": null,
        "cost": {
          "amount_micros": 0,
          "currency": "USD",
          "basis": "free"
        }
      }
    }
  },
  "POST /v1/tasks/cancel": {
    "parameters": {},
    "request": {
      "ids": [
        "task_01jd8e5t9kf3qs7m2v4xw6ya03"
      ]
    },
    "response": {
      "cancelled": 0,
      "already_final": 1,
      "not_found": 0
    }
  },
  "DELETE /v1/tasks/{task_id}": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya03"
    },
    "response": {
      "id": "task_01jd8e5t9kf3qs7m2v4xw6ya03",
      "object": "task.deleted",
      "deleted": true
    }
  },
  "GET /v1/models": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "gpt-image-2",
          "object": "model",
          "owned_by": "openai",
          "kind": "image",
          "created": 1789699660,
          "description": "General-purpose image model; the first recommendation.",
          "parameters": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "gpt-image-2",
            "type": "object",
            "properties": {
              "model": {
                "type": "string",
                "const": "gpt-image-2",
                "description": "The model that makes the content."
              },
              "prompt": {
                "type": "string",
                "description": "What to make, in words. It must not be blank.",
                "minLength": 1,
                "maxLength": 32000,
                "pattern": "[^\\s\\u0085]"
              },
              "reference_images": {
                "type": "array",
                "description": "Images to follow or to edit: up to 16 still JPEG, PNG or WebP files.",
                "maxItems": 16,
                "items": {
                  "type": "string",
                  "description": "http(s) URL of at most 2048 characters, id of a file (`file_…`), or data:image/…;base64 URL of a still JPEG, PNG or WebP image.",
                  "format": "image",
                  "pattern": "^(?:[Hh][Tt][Tt][Pp][Ss]?://\\S+$|file_[0-7][0-9a-hjkmnp-tv-z]{25}(?:_[0-9]{1,3})?$|data:image/)"
                }
              },
              "aspect_ratio": {
                "type": "string",
                "description": "Width to height. \"auto\" leaves the choice to the model.",
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
                ],
                "default": "auto"
              },
              "resolution": {
                "type": "string",
                "description": "Size class of the image.",
                "enum": [
                  "1K",
                  "2K",
                  "4K"
                ],
                "default": "1K"
              },
              "n": {
                "type": "integer",
                "description": "How many images to make.",
                "minimum": 1,
                "maximum": 10,
                "default": 1
              },
              "quality": {
                "type": "string",
                "description": "How much work the model puts into an image. \"auto\" leaves the choice to the model.",
                "enum": [
                  "auto",
                  "low",
                  "medium",
                  "high"
                ],
                "default": "auto"
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
              "output_compression": {
                "type": "integer",
                "description": "Quality of the encoder in percent; only with output_format \"jpeg\" or \"webp\".",
                "minimum": 0,
                "maximum": 100,
                "default": 100
              },
              "metadata": {
                "type": "object",
                "description": "Up to 16 key-value pairs of text, stored with the task and returned unchanged.",
                "maxProperties": 16,
                "propertyNames": {
                  "type": "string",
                  "description": "A key.",
                  "minLength": 1,
                  "maxLength": 64
                },
                "additionalProperties": {
                  "type": "string",
                  "description": "A value.",
                  "maxLength": 512
                }
              },
              "priority": {
                "type": "string",
                "enum": [
                  "normal",
                  "low"
                ],
                "default": "normal",
                "description": "A low task waits behind all normal ones, and has a day to start in."
              },
              "parent_task_id": {
                "type": "string",
                "description": "The task of yours that this one is made from."
              }
            },
            "required": [
              "model",
              "prompt"
            ],
            "additionalProperties": false,
            "if": {
              "properties": {
                "output_format": {
                  "enum": [
                    "jpeg",
                    "webp"
                  ]
                }
              },
              "required": [
                "output_format"
              ]
            },
            "else": {
              "properties": {
                "output_compression": {
                  "not": {},
                  "description": "needs output_format \"jpeg\" or \"webp\""
                }
              }
            }
          },
          "available": true,
          "sandbox": true,
          "lifecycle": {
            "status": "active",
            "deprecated_at": null,
            "sunset_at": null,
            "replacement": null
          },
          "health": {
            "status": "operational",
            "queued": 0,
            "running": 0,
            "median_run_s": null,
            "success_rate": null,
            "sampled_at": 1790000001
          },
          "typical": null,
          "pricing": null
        },
        {
          "id": "nano-banana-2",
          "object": "model",
          "owned_by": "google",
          "kind": "image",
          "created": 1789699660,
          "description": "Fast image model.",
          "parameters": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "nano-banana-2",
            "type": "object",
            "properties": {
              "model": {
                "type": "string",
                "const": "nano-banana-2",
                "description": "The model that makes the content."
              },
              "prompt": {
                "type": "string",
                "description": "What to make, in words. It must not be blank.",
                "minLength": 1,
                "maxLength": 20000,
                "pattern": "[^\\s\\u0085]"
              },
              "reference_images": {
                "type": "array",
                "description": "Images to follow or to edit: up to 14 still JPEG, PNG or WebP files.",
                "maxItems": 14,
                "items": {
                  "type": "string",
                  "description": "http(s) URL of at most 2048 characters, id of a file (`file_…`), or data:image/…;base64 URL of a still JPEG, PNG or WebP image.",
                  "format": "image",
                  "pattern": "^(?:[Hh][Tt][Tt][Pp][Ss]?://\\S+$|file_[0-7][0-9a-hjkmnp-tv-z]{25}(?:_[0-9]{1,3})?$|data:image/)"
                }
              },
              "aspect_ratio": {
                "type": "string",
                "description": "Width to height. \"auto\" leaves the choice to the model.",
                "enum": [
                  "auto",
                  "21:9",
                  "16:9",
                  "3:2",
                  "4:3",
                  "1:1",
                  "3:4",
                  "2:3",
                  "9:16"
                ],
                "default": "auto"
              },
              "resolution": {
                "type": "string",
                "description": "Size class of the image.",
                "enum": [
                  "2K",
                  "4K"
                ],
                "default": "2K"
              },
              "n": {
                "type": "integer",
                "description": "How many images to make.",
                "minimum": 1,
                "maximum": 4,
                "default": 1
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
              "output_compression": {
                "type": "integer",
                "description": "Quality of the encoder in percent; only with output_format \"jpeg\" or \"webp\".",
                "minimum": 0,
                "maximum": 100,
                "default": 100
              },
              "metadata": {
                "type": "object",
                "description": "Up to 16 key-value pairs of text, stored with the task and returned unchanged.",
                "maxProperties": 16,
                "propertyNames": {
                  "type": "string",
                  "description": "A key.",
                  "minLength": 1,
                  "maxLength": 64
                },
                "additionalProperties": {
                  "type": "string",
                  "description": "A value.",
                  "maxLength": 512
                }
              },
              "priority": {
                "type": "string",
                "enum": [
                  "normal",
                  "low"
                ],
                "default": "normal",
                "description": "A low task waits behind all normal ones, and has a day to start in."
              },
              "parent_task_id": {
                "type": "string",
                "description": "The task of yours that this one is made from."
              }
            },
            "required": [
              "model",
              "prompt"
            ],
            "additionalProperties": false,
            "if": {
              "properties": {
                "output_format": {
                  "enum": [
                    "jpeg",
                    "webp"
                  ]
                }
              },
              "required": [
                "output_format"
              ]
            },
            "else": {
              "properties": {
                "output_compression": {
                  "not": {},
                  "description": "needs output_format \"jpeg\" or \"webp\""
                }
              }
            }
          },
          "available": true,
          "sandbox": true,
          "lifecycle": {
            "status": "active",
            "deprecated_at": null,
            "sunset_at": null,
            "replacement": null
          },
          "health": {
            "status": "operational",
            "queued": 0,
            "running": 0,
            "median_run_s": null,
            "success_rate": null,
            "sampled_at": 1790000001
          },
          "typical": null,
          "pricing": null
        }
      ]
    }
  },
  "GET /v1/models/{id}": {
    "parameters": {
      "id": "gpt-image-2"
    },
    "response": {
      "id": "gpt-image-2",
      "object": "model",
      "owned_by": "openai",
      "kind": "image",
      "created": 1789699660,
      "description": "General-purpose image model; the first recommendation.",
      "parameters": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gpt-image-2",
        "type": "object",
        "properties": {
          "model": {
            "type": "string",
            "const": "gpt-image-2",
            "description": "The model that makes the content."
          },
          "prompt": {
            "type": "string",
            "description": "What to make, in words. It must not be blank.",
            "minLength": 1,
            "maxLength": 32000,
            "pattern": "[^\\s\\u0085]"
          },
          "reference_images": {
            "type": "array",
            "description": "Images to follow or to edit: up to 16 still JPEG, PNG or WebP files.",
            "maxItems": 16,
            "items": {
              "type": "string",
              "description": "http(s) URL of at most 2048 characters, id of a file (`file_…`), or data:image/…;base64 URL of a still JPEG, PNG or WebP image.",
              "format": "image",
              "pattern": "^(?:[Hh][Tt][Tt][Pp][Ss]?://\\S+$|file_[0-7][0-9a-hjkmnp-tv-z]{25}(?:_[0-9]{1,3})?$|data:image/)"
            }
          },
          "aspect_ratio": {
            "type": "string",
            "description": "Width to height. \"auto\" leaves the choice to the model.",
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
            ],
            "default": "auto"
          },
          "resolution": {
            "type": "string",
            "description": "Size class of the image.",
            "enum": [
              "1K",
              "2K",
              "4K"
            ],
            "default": "1K"
          },
          "n": {
            "type": "integer",
            "description": "How many images to make.",
            "minimum": 1,
            "maximum": 10,
            "default": 1
          },
          "quality": {
            "type": "string",
            "description": "How much work the model puts into an image. \"auto\" leaves the choice to the model.",
            "enum": [
              "auto",
              "low",
              "medium",
              "high"
            ],
            "default": "auto"
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
          "output_compression": {
            "type": "integer",
            "description": "Quality of the encoder in percent; only with output_format \"jpeg\" or \"webp\".",
            "minimum": 0,
            "maximum": 100,
            "default": 100
          },
          "metadata": {
            "type": "object",
            "description": "Up to 16 key-value pairs of text, stored with the task and returned unchanged.",
            "maxProperties": 16,
            "propertyNames": {
              "type": "string",
              "description": "A key.",
              "minLength": 1,
              "maxLength": 64
            },
            "additionalProperties": {
              "type": "string",
              "description": "A value.",
              "maxLength": 512
            }
          },
          "priority": {
            "type": "string",
            "enum": [
              "normal",
              "low"
            ],
            "default": "normal",
            "description": "A low task waits behind all normal ones, and has a day to start in."
          },
          "parent_task_id": {
            "type": "string",
            "description": "The task of yours that this one is made from."
          }
        },
        "required": [
          "model",
          "prompt"
        ],
        "additionalProperties": false,
        "if": {
          "properties": {
            "output_format": {
              "enum": [
                "jpeg",
                "webp"
              ]
            }
          },
          "required": [
            "output_format"
          ]
        },
        "else": {
          "properties": {
            "output_compression": {
              "not": {},
              "description": "needs output_format \"jpeg\" or \"webp\""
            }
          }
        }
      },
      "available": true,
      "sandbox": true,
      "lifecycle": {
        "status": "active",
        "deprecated_at": null,
        "sunset_at": null,
        "replacement": null
      },
      "health": {
        "status": "operational",
        "queued": 0,
        "running": 0,
        "median_run_s": null,
        "success_rate": null,
        "sampled_at": 1790000001
      },
      "typical": null,
      "pricing": null
    }
  },
  "GET /v1/usage": {
    "parameters": {},
    "response": {
      "object": "page",
      "currency": "USD",
      "as_of": 1790000001,
      "data": [
        {
          "object": "bucket",
          "start_time": 1789913601,
          "end_time": 1789958860,
          "results": []
        },
        {
          "object": "bucket",
          "start_time": 1789958860,
          "end_time": 1790000001,
          "results": [
            {
              "object": "usage.result",
              "model": null,
              "kind": null,
              "provider": null,
              "resolution": null,
              "source": null,
              "batch_id": null,
              "error_code": null,
              "api_key_id": null,
              "tasks": 3,
              "succeeded": 2,
              "failed": 0,
              "cancelled": 1,
              "images": 2,
              "video_seconds": 0,
              "submits": 0,
              "cost_micros": 0,
              "assumed_micros": 0,
              "unpriced_tasks": 2
            }
          ]
        }
      ],
      "totals": {
        "tasks": 3,
        "succeeded": 2,
        "failed": 0,
        "cancelled": 1,
        "images": 2,
        "video_seconds": 0,
        "submits": 0,
        "cost_micros": 0,
        "assumed_micros": 0,
        "unpriced_tasks": 2
      },
      "has_more": false,
      "next_page": null
    }
  },
  "GET /v1/about": {
    "parameters": {},
    "response": {
      "object": "about",
      "version": "0.1.0",
      "server_time": 1790000001,
      "public_url": "http://localhost:3000",
      "task_retention_days": 30,
      "file_retention_days": 7,
      "file_url_ttl_s": 3600,
      "max_upload_bytes": 20000000,
      "webhook_schedule_s": [
        5,
        30,
        120,
        600,
        3600,
        21600,
        86400
      ],
      "graphiql": true
    }
  },
  "GET /healthz": {
    "parameters": {},
    "response": {
      "status": "ok"
    }
  },
  "GET /readyz": {
    "parameters": {},
    "response": {
      "status": "ok",
      "checks": {
        "database": "ok",
        "storage": "ok",
        "events": "ok",
        "queue": "ok"
      }
    }
  },
  "POST /v1/files": {
    "parameters": {},
    "request": {
      "filename": "lighthouse.png",
      "bytes": 70,
      "content_type": "image/png"
    },
    "response": {
      "id": "file_01jd8e5t9kf3qs7m2v4xw6ya04",
      "object": "file",
      "bytes": 70,
      "created_at": 1790000001,
      "expires_at": 1790086401,
      "filename": "lighthouse.png",
      "purpose": "vision",
      "status": "pending",
      "content_type": "image/png",
      "sha256": null,
      "url": null,
      "url_expires_at": null,
      "upload": {
        "method": "PUT",
        "url": "http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya04/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "headers": {
          "content-type": "image/png",
          "content-length": "70"
        },
        "expires_at": 1790003601
      }
    }
  },
  "POST /v1/files/{id}/complete": {
    "parameters": {
      "id": "file_01jd8e5t9kf3qs7m2v4xw6ya04"
    },
    "response": {
      "id": "file_01jd8e5t9kf3qs7m2v4xw6ya04",
      "object": "file",
      "bytes": 70,
      "created_at": 1790000001,
      "expires_at": 1792592001,
      "filename": "lighthouse.png",
      "purpose": "vision",
      "status": "processed",
      "content_type": "image/png",
      "width": 1,
      "height": 1,
      "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "url": "http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya04/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "url_expires_at": 1790003860
    }
  },
  "GET /v1/files/{id}": {
    "parameters": {
      "id": "file_01jd8e5t9kf3qs7m2v4xw6ya04"
    },
    "response": {
      "id": "file_01jd8e5t9kf3qs7m2v4xw6ya04",
      "object": "file",
      "bytes": 70,
      "created_at": 1790000001,
      "expires_at": 1792592001,
      "filename": "lighthouse.png",
      "purpose": "vision",
      "status": "processed",
      "content_type": "image/png",
      "width": 1,
      "height": 1,
      "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "url": "http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya04/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
      "url_expires_at": 1790003860
    }
  },
  "GET /v1/files": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "file_01jd8e5t9kf3qs7m2v4xw6ya04",
          "object": "file",
          "bytes": 70,
          "created_at": 1790000001,
          "expires_at": 1792592001,
          "filename": "lighthouse.png",
          "purpose": "vision",
          "status": "processed",
          "content_type": "image/png",
          "width": 1,
          "height": 1,
          "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
          "url": "http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya04/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
          "url_expires_at": 1790003860
        }
      ],
      "has_more": false,
      "first_id": "file_01jd8e5t9kf3qs7m2v4xw6ya04",
      "last_id": "file_01jd8e5t9kf3qs7m2v4xw6ya04"
    }
  },
  "DELETE /v1/files/{id}": {
    "parameters": {
      "id": "file_01jd8e5t9kf3qs7m2v4xw6ya04"
    },
    "response": {
      "id": "file_01jd8e5t9kf3qs7m2v4xw6ya04",
      "object": "file",
      "deleted": true
    }
  },
  "POST /v1/batches": {
    "parameters": {},
    "request": {
      "requests": [
        {
          "custom_id": "red",
          "body": {
            "model": "gpt-image-2",
            "prompt": "A red bicycle",
            "resolution": "1K"
          }
        },
        {
          "custom_id": "blue",
          "body": {
            "model": "gpt-image-2",
            "prompt": "A blue bicycle",
            "resolution": "1K"
          }
        }
      ],
      "metadata": {
        "campaign": "spring"
      }
    },
    "response": {
      "id": "batch_01jd8e5t9kf3qs7m2v4xw6ya05",
      "object": "batch",
      "endpoint": "/v1/generations",
      "status": "in_progress",
      "progress": 0,
      "created_at": 1790000001,
      "in_progress_at": 1790000001,
      "completed_at": null,
      "cancelling_at": null,
      "cancelled_at": null,
      "expires_at": 1790086401,
      "input_file_id": null,
      "output_file_id": null,
      "error_file_id": null,
      "completion_window": "24h",
      "request_counts": {
        "total": 2,
        "completed": 0,
        "failed": 0
      },
      "counts": {
        "queued": 2,
        "running": 0,
        "succeeded": 0,
        "failed": 0,
        "cancelled": 0,
        "invalid": 0
      },
      "metadata": {
        "campaign": "spring"
      }
    }
  },
  "GET /v1/batches/{id}/events": {
    "parameters": {
      "id": "batch_01jd8e5t9kf3qs7m2v4xw6ya05"
    },
    "response": ": open\n\nid: in_progress-0-2-0-0-0\ndata: {\"id\":\"batch_01jd8e5t9kf3qs7m2v4xw6ya05\",\"object\":\"batch\",\"endpoint\":\"/v1/generations\",\"status\":\"in_progress\",\"progress\":0,\"created_at\":1790000001,\"in_progress_at\":1790000001,\"completed_at\":null,\"cancelling_at\":null,\"cancelled_at\":null,\"expires_at\":1790086401,\"input_file_id\":null,\"output_file_id\":null,\"error_file_id\":null,\"completion_window\":\"24h\",\"request_counts\":{\"total\":2,\"completed\":0,\"failed\":0},\"counts\":{\"queued\":0,\"running\":2,\"succeeded\":0,\"failed\":0,\"cancelled\":0,\"invalid\":0},\"metadata\":{\"campaign\":\"spring\"}}\n\nid: in_progress-0-1-1-0-0\ndata: {\"id\":\"batch_01jd8e5t9kf3qs7m2v4xw6ya05\",\"object\":\"batch\",\"endpoint\":\"/v1/generations\",\"status\":\"in_progress\",\"progress\":50,\"created_at\":1790000001,\"in_progress_at\":1790000001,\"completed_at\":null,\"cancelling_at\":null,\"cancelled_at\":null,\"expires_at\":1790086401,\"input_file_id\":null,\"output_file_id\":null,\"error_file_id\":null,\"completion_window\":\"24h\",\"request_counts\":{\"total\":2,\"completed\":1,\"failed\":0},\"counts\":{\"queued\":0,\"running\":1,\"succeeded\":1,\"failed\":0,\"cancelled\":0,\"invalid\":0},\"metadata\":{\"campaign\":\"spring\"}}\n\nid: completed-0-0-2-0-0\ndata: {\"id\":\"batch_01jd8e5t9kf3qs7m2v4xw6ya05\",\"object\":\"batch\",\"endpoint\":\"/v1/generations\",\"status\":\"completed\",\"progress\":100,\"created_at\":1790000001,\"in_progress_at\":1790000001,\"completed_at\":1790000001,\"cancelling_at\":null,\"cancelled_at\":null,\"expires_at\":1790086401,\"input_file_id\":null,\"output_file_id\":\"file_01jd8e5t9kf3qs7m2v4xw6ya05_output\",\"error_file_id\":null,\"completion_window\":\"24h\",\"request_counts\":{\"total\":2,\"completed\":2,\"failed\":0},\"counts\":{\"queued\":0,\"running\":0,\"succeeded\":2,\"failed\":0,\"cancelled\":0,\"invalid\":0},\"usage\":{\"images\":2,\"video_seconds\":0,\"submits\":0,\"cost_micros\":0,\"assumed_micros\":0,\"unpriced_tasks\":2,\"currency\":\"USD\"},\"metadata\":{\"campaign\":\"spring\"}}\n\n"
  },
  "GET /v1/batches/{id}": {
    "parameters": {
      "id": "batch_01jd8e5t9kf3qs7m2v4xw6ya05"
    },
    "response": {
      "id": "batch_01jd8e5t9kf3qs7m2v4xw6ya05",
      "object": "batch",
      "endpoint": "/v1/generations",
      "status": "completed",
      "progress": 100,
      "created_at": 1790000001,
      "in_progress_at": 1790000001,
      "completed_at": 1790000001,
      "cancelling_at": null,
      "cancelled_at": null,
      "expires_at": 1790086401,
      "input_file_id": null,
      "output_file_id": "file_01jd8e5t9kf3qs7m2v4xw6ya05_output",
      "error_file_id": null,
      "completion_window": "24h",
      "request_counts": {
        "total": 2,
        "completed": 2,
        "failed": 0
      },
      "counts": {
        "queued": 0,
        "running": 0,
        "succeeded": 2,
        "failed": 0,
        "cancelled": 0,
        "invalid": 0
      },
      "usage": {
        "images": 2,
        "video_seconds": 0,
        "submits": 0,
        "cost_micros": 0,
        "assumed_micros": 0,
        "unpriced_tasks": 2,
        "currency": "USD"
      },
      "metadata": {
        "campaign": "spring"
      }
    }
  },
  "GET /v1/batches/{id}/results": {
    "parameters": {
      "id": "batch_01jd8e5t9kf3qs7m2v4xw6ya05"
    },
    "response": "{\"id\":\"batch_req_01jd8e5t9kf3qs7m2v4xw6ya05_0\",\"custom_id\":\"red\",\"index\":0,\"task_id\":\"task_01jd8e5t9kf3qs7m2v4xw6ya06\",\"response\":{\"status_code\":200,\"request_id\":\"req_01jd8e5t9kf3qs7m2v4xw6yzab\",\"body\":{\"task_id\":\"task_01jd8e5t9kf3qs7m2v4xw6ya06\",\"object\":\"task\",\"kind\":\"image\",\"model\":\"gpt-image-2\",\"status\":\"succeeded\",\"progress\":100,\"created_at\":1790000001,\"completed_at\":1790000001,\"result\":{\"outputs\":[{\"id\":\"file_01jd8e5t9kf3qs7m2v4xw6ya06_0\",\"index\":0,\"type\":\"image\",\"content_type\":\"image/png\",\"size_bytes\":115369,\"width\":1024,\"height\":1024,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"url\":\"http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya06_0/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"url_expires_at\":1790003860}],\"expires_at\":1790604801},\"input\":{\"prompt\":\"A red bicycle\",\"aspect_ratio\":\"auto\",\"resolution\":\"1K\",\"n\":1,\"quality\":\"auto\"},\"metadata\":{},\"started_at\":1790000001,\"expires_at\":1792592001,\"source\":\"batch\",\"priority\":\"low\",\"parent_task_id\":null,\"relation\":null,\"batch\":{\"id\":\"batch_01jd8e5t9kf3qs7m2v4xw6ya05\",\"index\":0,\"custom_id\":\"red\"},\"usage\":{\"images\":1,\"video_seconds\":0,\"resolution\":\"1K\",\"quality\":\"auto\",\"provider\":\"sandbox\",\"submits\":0,\"tokens\":null,\"cost\":{\"amount_micros\":0,\"currency\":\"USD\",\"basis\":\"unpriced\"}}}},\"error\":null}\n{\"id\":\"batch_req_01jd8e5t9kf3qs7m2v4xw6ya05_1\",\"custom_id\":\"blue\",\"index\":1,\"task_id\":\"task_01jd8e5t9kf3qs7m2v4xw6ya07\",\"response\":{\"status_code\":200,\"request_id\":\"req_01jd8e5t9kf3qs7m2v4xw6yzab\",\"body\":{\"task_id\":\"task_01jd8e5t9kf3qs7m2v4xw6ya07\",\"object\":\"task\",\"kind\":\"image\",\"model\":\"gpt-image-2\",\"status\":\"succeeded\",\"progress\":100,\"created_at\":1790000001,\"completed_at\":1790000001,\"result\":{\"outputs\":[{\"id\":\"file_01jd8e5t9kf3qs7m2v4xw6ya07_0\",\"index\":0,\"type\":\"image\",\"content_type\":\"image/png\",\"size_bytes\":100219,\"width\":1024,\"height\":1024,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"url\":\"http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya07_0/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"url_expires_at\":1790003860}],\"expires_at\":1790604801},\"input\":{\"prompt\":\"A blue bicycle\",\"aspect_ratio\":\"auto\",\"resolution\":\"1K\",\"n\":1,\"quality\":\"auto\"},\"metadata\":{},\"started_at\":1790000001,\"expires_at\":1792592001,\"source\":\"batch\",\"priority\":\"low\",\"parent_task_id\":null,\"relation\":null,\"batch\":{\"id\":\"batch_01jd8e5t9kf3qs7m2v4xw6ya05\",\"index\":1,\"custom_id\":\"blue\"},\"usage\":{\"images\":1,\"video_seconds\":0,\"resolution\":\"1K\",\"quality\":\"auto\",\"provider\":\"sandbox\",\"submits\":0,\"tokens\":null,\"cost\":{\"amount_micros\":0,\"currency\":\"USD\",\"basis\":\"unpriced\"}}}},\"error\":null}\n"
  },
  "GET /v1/batches": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "batch_01jd8e5t9kf3qs7m2v4xw6ya05",
          "object": "batch",
          "endpoint": "/v1/generations",
          "status": "completed",
          "progress": 100,
          "created_at": 1790000001,
          "in_progress_at": 1790000001,
          "completed_at": 1790000001,
          "cancelling_at": null,
          "cancelled_at": null,
          "expires_at": 1790086401,
          "input_file_id": null,
          "output_file_id": "file_01jd8e5t9kf3qs7m2v4xw6ya05_output",
          "error_file_id": null,
          "completion_window": "24h",
          "request_counts": {
            "total": 2,
            "completed": 2,
            "failed": 0
          },
          "counts": {
            "queued": 0,
            "running": 0,
            "succeeded": 2,
            "failed": 0,
            "cancelled": 0,
            "invalid": 0
          },
          "usage": {
            "images": 2,
            "video_seconds": 0,
            "submits": 0,
            "cost_micros": 0,
            "assumed_micros": 0,
            "unpriced_tasks": 2,
            "currency": "USD"
          },
          "metadata": {
            "campaign": "spring"
          }
        }
      ],
      "has_more": false,
      "first_id": "batch_01jd8e5t9kf3qs7m2v4xw6ya05",
      "last_id": "batch_01jd8e5t9kf3qs7m2v4xw6ya05"
    }
  },
  "POST /v1/batches/{id}/cancel": {
    "parameters": {
      "id": "batch_01jd8e5t9kf3qs7m2v4xw6ya08"
    },
    "response": {
      "id": "batch_01jd8e5t9kf3qs7m2v4xw6ya08",
      "object": "batch",
      "endpoint": "/v1/generations",
      "status": "cancelled",
      "progress": 100,
      "created_at": 1790000001,
      "in_progress_at": 1790000001,
      "completed_at": null,
      "cancelling_at": 1790000001,
      "cancelled_at": 1790000001,
      "expires_at": 1790086401,
      "input_file_id": null,
      "output_file_id": null,
      "error_file_id": "file_01jd8e5t9kf3qs7m2v4xw6ya08_errors",
      "completion_window": "24h",
      "request_counts": {
        "total": 1,
        "completed": 0,
        "failed": 1
      },
      "counts": {
        "queued": 0,
        "running": 0,
        "succeeded": 0,
        "failed": 0,
        "cancelled": 1,
        "invalid": 0
      },
      "usage": {
        "images": 0,
        "video_seconds": 0,
        "submits": 0,
        "cost_micros": 0,
        "assumed_micros": 0,
        "unpriced_tasks": 0,
        "currency": "USD"
      },
      "metadata": {}
    }
  },
  "POST /v1/images/generations": {
    "parameters": {},
    "request": {
      "model": "gpt-image-2",
      "prompt": "A fox",
      "size": "1024x1024",
      "response_format": "url"
    },
    "response": {
      "created": 1790000001,
      "data": [
        {
          "url": "http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya09_0/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        }
      ],
      "background": "opaque",
      "output_format": "png",
      "quality": "auto",
      "size": "1024x1024",
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya09"
    }
  },
  "POST /v1/videos": {
    "parameters": {},
    "request": {
      "model": "sora-2",
      "prompt": "A wave",
      "seconds": "4",
      "size": "1280x720"
    },
    "response": {
      "id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a",
      "object": "video",
      "model": "sora-2",
      "status": "queued",
      "progress": 0,
      "created_at": 1790000001,
      "completed_at": null,
      "expires_at": null,
      "prompt": "A wave",
      "seconds": "4",
      "size": "1280x720",
      "remixed_from_video_id": null,
      "error": null
    }
  },
  "GET /v1/videos/{id}": {
    "parameters": {
      "id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a"
    },
    "response": {
      "id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a",
      "object": "video",
      "model": "sora-2",
      "status": "completed",
      "progress": 100,
      "created_at": 1790000001,
      "completed_at": 1790000003,
      "expires_at": 1790604803,
      "prompt": "A wave",
      "seconds": "4",
      "size": "1280x720",
      "remixed_from_video_id": null,
      "error": null
    }
  },
  "GET /v1/videos": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a",
          "object": "video",
          "model": "sora-2",
          "status": "completed",
          "progress": 100,
          "created_at": 1790000001,
          "completed_at": 1790000003,
          "expires_at": 1790604803,
          "prompt": "A wave",
          "seconds": "4",
          "size": "1280x720",
          "remixed_from_video_id": null,
          "error": null
        }
      ],
      "has_more": false,
      "first_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a",
      "last_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a"
    }
  },
  "POST /v1/videos/{id}/remix": {
    "parameters": {
      "id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a"
    },
    "request": {
      "prompt": "A wave at night"
    },
    "response": {
      "id": "task_01jd8e5t9kf3qs7m2v4xw6ya0b",
      "object": "video",
      "model": "sora-2",
      "status": "queued",
      "progress": 0,
      "created_at": 1790000003,
      "completed_at": null,
      "expires_at": null,
      "prompt": "A wave at night",
      "seconds": "4",
      "size": "1280x720",
      "remixed_from_video_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a",
      "error": null,
      "approximations": [
        {
          "param": "video",
          "requested": "task_01jd8e5t9kf3qs7m2v4xw6ya0a",
          "used": "its parameters"
        }
      ]
    }
  },
  "DELETE /v1/videos/{id}": {
    "parameters": {
      "id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a"
    },
    "response": {
      "id": "task_01jd8e5t9kf3qs7m2v4xw6ya0a",
      "object": "video.deleted",
      "deleted": true
    }
  },
  "POST /v1/images/edits": {
    "parameters": {},
    "response": {
      "created": 1790000003,
      "data": [
        {
          "url": "http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya0c_0/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        }
      ],
      "background": "opaque",
      "output_format": "png",
      "quality": "auto",
      "size": "1024x1024",
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0c"
    }
  },
  "GET /v1/webhook_endpoints/{id}/deliveries": {
    "parameters": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "response": {
      "object": "list",
      "data": [
        {
          "id": "dlv_01jd8e5t9kf3qs7m2v4xw6ya0d",
          "object": "webhook_delivery",
          "endpoint_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
          "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
          "event_id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0e",
          "event_type": "task.completed",
          "url": "https://shop.example/hooks",
          "request_headers": {
            "user-agent": "Darkroom/0.1.0 (+webhooks)",
            "webhook-id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0e",
            "content-type": "application/json",
            "webhook-timestamp": "1795433140"
          },
          "attempt": 1,
          "trigger": "scheduled",
          "attempted_at": 1790000000,
          "duration_ms": 21,
          "status_code": 204,
          "error": null,
          "next_attempt_at": null,
          "response_snippet": null
        }
      ],
      "has_more": false,
      "first_id": "dlv_01jd8e5t9kf3qs7m2v4xw6ya0d",
      "last_id": "dlv_01jd8e5t9kf3qs7m2v4xw6ya0d"
    }
  },
  "GET /v1/webhook_events/{id}": {
    "parameters": {
      "id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0e"
    },
    "response": {
      "id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0e",
      "object": "event",
      "type": "task.completed",
      "created_at": 1790000000,
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
      "body": "{\"id\":\"evt_01jd8e5t9kf3qs7m2v4xw6ya0e\",\"object\":\"event\",\"type\":\"task.completed\",\"created_at\":1790000000,\"timestamp\":\"2026-09-21T14:13:20.000Z\",\"data\":{\"task_id\":\"task_01jd8e5t9kf3qs7m2v4xw6ya01\",\"object\":\"task\",\"kind\":\"image\",\"model\":\"gpt-image-2\",\"status\":\"succeeded\",\"progress\":100,\"created_at\":1790000000,\"completed_at\":1790000000,\"result\":{\"outputs\":[{\"id\":\"file_01jd8e5t9kf3qs7m2v4xw6ya01_0\",\"index\":0,\"type\":\"image\",\"content_type\":\"image/png\",\"size_bytes\":293506,\"width\":1536,\"height\":1024,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\",\"url\":\"http://localhost:3000/v1/files/file_01jd8e5t9kf3qs7m2v4xw6ya01_0/content?expires=1790003600&signature=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"url_expires_at\":1790604800}],\"expires_at\":1790604800},\"input\":{\"prompt\":\"A lighthouse at dusk\",\"aspect_ratio\":\"3:2\",\"resolution\":\"1K\",\"n\":1,\"quality\":\"auto\"},\"metadata\":{\"order\":\"1042\"},\"started_at\":1790000000,\"expires_at\":1792592000,\"source\":\"api\",\"priority\":\"normal\",\"parent_task_id\":null,\"relation\":null,\"batch\":null,\"usage\":{\"images\":1,\"video_seconds\":0,\"resolution\":\"1K\",\"quality\":\"auto\",\"provider\":\"sandbox\",\"submits\":0,\"tokens\":null,\"cost\":{\"amount_micros\":0,\"currency\":\"USD\",\"basis\":\"unpriced\"}}}}",
      "deliveries": [
        {
          "id": "dlv_01jd8e5t9kf3qs7m2v4xw6ya0d",
          "object": "webhook_delivery",
          "endpoint_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
          "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya01",
          "event_id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0e",
          "event_type": "task.completed",
          "url": "https://shop.example/hooks",
          "request_headers": {
            "user-agent": "Darkroom/0.1.0 (+webhooks)",
            "webhook-id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0e",
            "content-type": "application/json",
            "webhook-timestamp": "1795433140"
          },
          "attempt": 1,
          "trigger": "scheduled",
          "attempted_at": 1790000000,
          "duration_ms": 21,
          "status_code": 204,
          "error": null,
          "next_attempt_at": null,
          "response_snippet": null
        }
      ]
    }
  },
  "POST /v1/webhook_events/{id}/redeliver": {
    "parameters": {
      "id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0e"
    },
    "response": {
      "id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0e",
      "object": "event",
      "type": "task.completed",
      "created_at": 1790000000,
      "endpoints": 1
    }
  },
  "POST /v1/webhook_endpoints/{id}/test": {
    "parameters": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "response": {
      "event_id": "evt_01jd8e5t9kf3qs7m2v4xw6ya0f"
    }
  },
  "GET /v1/webhook_endpoints/{id}/stats": {
    "parameters": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "response": {
      "delivered": 9,
      "waiting": 0,
      "failed": 0,
      "p50_ms": 5,
      "last_status_code": 204,
      "last_attempted_at": 1790000004
    }
  },
  "POST /v1/webhook_endpoints/{id}/recover": {
    "parameters": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "request": {
      "since": 1789996404
    },
    "response": {
      "events": 0
    }
  },
  "POST /v1/operations/webhooks/replay": {
    "parameters": {},
    "request": {
      "since": 1789996404,
      "endpoint_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "response": {
      "id": "replay_01jd8e5t9kf3qs7m2v4xw6ya0g",
      "object": "webhook_replay",
      "status": "running",
      "since": 1789996404,
      "until": 1790000005,
      "endpoint_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
      "api_key_id": null,
      "events": "failed",
      "total": 0,
      "queued": 0,
      "created_at": 1790000004,
      "created_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "ended_at": null
    }
  },
  "GET /v1/operations/webhooks/replays/{id}": {
    "parameters": {
      "id": "replay_01jd8e5t9kf3qs7m2v4xw6ya0g"
    },
    "response": {
      "id": "replay_01jd8e5t9kf3qs7m2v4xw6ya0g",
      "object": "webhook_replay",
      "status": "running",
      "since": 1789996404,
      "until": 1790000005,
      "endpoint_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
      "api_key_id": null,
      "events": "failed",
      "total": 0,
      "queued": 0,
      "created_at": 1790000004,
      "created_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "ended_at": null
    }
  },
  "GET /v1/operations/webhooks/replays": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "replay_01jd8e5t9kf3qs7m2v4xw6ya0g",
          "object": "webhook_replay",
          "status": "running",
          "since": 1789996404,
          "until": 1790000005,
          "endpoint_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
          "api_key_id": null,
          "events": "failed",
          "total": 0,
          "queued": 0,
          "created_at": 1790000004,
          "created_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
          "ended_at": null
        }
      ],
      "has_more": false,
      "first_id": "replay_01jd8e5t9kf3qs7m2v4xw6ya0g",
      "last_id": "replay_01jd8e5t9kf3qs7m2v4xw6ya0g"
    }
  },
  "POST /v1/operations/webhooks/replays/{id}/cancel": {
    "parameters": {
      "id": "replay_01jd8e5t9kf3qs7m2v4xw6ya0g"
    },
    "response": {
      "id": "replay_01jd8e5t9kf3qs7m2v4xw6ya0g",
      "object": "webhook_replay",
      "status": "cancelled",
      "since": 1789996404,
      "until": 1790000005,
      "endpoint_id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
      "api_key_id": null,
      "events": "failed",
      "total": 0,
      "queued": 0,
      "created_at": 1790000004,
      "created_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "ended_at": 1790000004
    }
  },
  "GET /v1/operations/webhooks": {
    "parameters": {},
    "response": {
      "object": "operator_webhooks",
      "endpoints": {
        "enabled": 1,
        "failing": 0,
        "disabled": 0
      },
      "dispatches": {
        "due": 0,
        "waiting": 0,
        "under_way": 0
      },
      "oldest_due_s": null,
      "attempts": [],
      "troubled": []
    }
  },
  "PATCH /v1/webhook_endpoints/{id}": {
    "parameters": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "request": {
      "events": [
        "task.completed"
      ]
    },
    "response": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
      "object": "webhook_endpoint",
      "url": "https://shop.example/hooks",
      "events": [
        "task.completed"
      ],
      "description": "the shop",
      "status": "enabled",
      "disabled_reason": null,
      "failing_since": null,
      "secret_hint": "…L2ms",
      "old_secret_until": null,
      "created_at": 1790000000
    }
  },
  "POST /v1/webhook_endpoints/{id}/rotate_secret": {
    "parameters": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "request": {
      "keep_old_secret_for_hours": 24
    },
    "response": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00",
      "object": "webhook_endpoint",
      "url": "https://shop.example/hooks",
      "events": [
        "task.completed"
      ],
      "description": "the shop",
      "status": "enabled",
      "disabled_reason": null,
      "failing_since": null,
      "secret_hint": "…O176",
      "old_secret_until": 1790086404,
      "created_at": 1790000000,
      "secret": "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    }
  },
  "DELETE /v1/webhook_endpoints/{id}": {
    "parameters": {
      "id": "we_01jd8e5t9kf3qs7m2v4xw6ya00"
    },
    "response": ""
  },
  "POST /v1/api_keys": {
    "parameters": {},
    "request": {
      "name": "the shop",
      "scopes": [
        "generations:write",
        "tasks:read"
      ]
    },
    "response": {
      "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
      "object": "api_key",
      "name": "the shop",
      "scopes": [
        "generations:write",
        "tasks:read"
      ],
      "limits": {
        "creates_per_minute": 0,
        "reads_per_minute": 0,
        "max_running": 50,
        "max_queued": 5000,
        "max_file_bytes": 5368709120,
        "weight": 10,
        "task_retention_days": 30,
        "file_retention_days": 7,
        "budget": null
      },
      "budget_status": null,
      "hint": "dr_BK…grv6",
      "created_at": 1790000004,
      "expires_at": null,
      "last_used_at": null,
      "key": "dr_0000000000000000000000000000000000000000000000"
    }
  },
  "GET /v1/api_keys": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
          "object": "api_key",
          "name": "the shop",
          "scopes": [
            "generations:write",
            "tasks:read"
          ],
          "limits": {
            "creates_per_minute": 0,
            "reads_per_minute": 0,
            "max_running": 50,
            "max_queued": 5000,
            "max_file_bytes": 5368709120,
            "weight": 10,
            "task_retention_days": 30,
            "file_retention_days": 7,
            "budget": null
          },
          "budget_status": null,
          "hint": "dr_BK…grv6",
          "created_at": 1790000004,
          "expires_at": null,
          "last_used_at": null
        },
        {
          "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
          "object": "api_key",
          "name": "BOOTSTRAP_API_KEY",
          "scopes": [
            "generations:write",
            "tasks:read",
            "tasks:cancel",
            "webhooks:manage",
            "keys:manage",
            "operations:read",
            "operations:manage"
          ],
          "limits": {
            "creates_per_minute": 0,
            "reads_per_minute": 0,
            "max_running": 50,
            "max_queued": 5000,
            "max_file_bytes": 5368709120,
            "weight": 10,
            "task_retention_days": 30,
            "file_retention_days": 7,
            "budget": null
          },
          "budget_status": null,
          "hint": "dr_VH…XdcI",
          "created_at": 1790000000,
          "expires_at": null,
          "last_used_at": 1790000001
        }
      ],
      "has_more": false,
      "first_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
      "last_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h"
    }
  },
  "GET /v1/api_keys/{id}": {
    "parameters": {
      "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j"
    },
    "response": {
      "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
      "object": "api_key",
      "name": "the shop",
      "scopes": [
        "generations:write",
        "tasks:read"
      ],
      "limits": {
        "creates_per_minute": 0,
        "reads_per_minute": 0,
        "max_running": 50,
        "max_queued": 5000,
        "max_file_bytes": 5368709120,
        "weight": 10,
        "task_retention_days": 30,
        "file_retention_days": 7,
        "budget": null
      },
      "budget_status": null,
      "hint": "dr_BK…grv6",
      "created_at": 1790000004,
      "expires_at": null,
      "last_used_at": null
    }
  },
  "PATCH /v1/api_keys/{id}": {
    "parameters": {
      "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j"
    },
    "request": {
      "name": "the new shop"
    },
    "response": {
      "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
      "object": "api_key",
      "name": "the new shop",
      "scopes": [
        "generations:write",
        "tasks:read"
      ],
      "limits": {
        "creates_per_minute": 0,
        "reads_per_minute": 0,
        "max_running": 50,
        "max_queued": 5000,
        "max_file_bytes": 5368709120,
        "weight": 10,
        "task_retention_days": 30,
        "file_retention_days": 7,
        "budget": null
      },
      "budget_status": null,
      "hint": "dr_BK…grv6",
      "created_at": 1790000004,
      "expires_at": null,
      "last_used_at": null
    }
  },
  "POST /v1/api_keys/{id}/rotate": {
    "parameters": {
      "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j"
    },
    "request": {
      "overlap_hours": 24
    },
    "response": {
      "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
      "object": "api_key",
      "name": "the new shop",
      "scopes": [
        "generations:write",
        "tasks:read"
      ],
      "limits": {
        "creates_per_minute": 0,
        "reads_per_minute": 0,
        "max_running": 50,
        "max_queued": 5000,
        "max_file_bytes": 5368709120,
        "weight": 10,
        "task_retention_days": 30,
        "file_retention_days": 7,
        "budget": null
      },
      "budget_status": null,
      "hint": "dr_2k…HaBa",
      "created_at": 1790000004,
      "expires_at": null,
      "last_used_at": null,
      "key": "dr_0000000000000000000000000000000000000000000000"
    }
  },
  "DELETE /v1/api_keys/{id}": {
    "parameters": {
      "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j"
    },
    "response": ""
  },
  "GET /v1/erasures/{id}": {
    "parameters": {
      "id": "erasure_01jd8e5t9kf3qs7m2v4xw6ya0k"
    },
    "response": {
      "id": "erasure_01jd8e5t9kf3qs7m2v4xw6ya0k",
      "object": "erasure",
      "api_key_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
      "status": "completed",
      "counts": {
        "tasks": 0,
        "files": 0,
        "uploads": 0,
        "idempotency_keys": 0,
        "calls": 0,
        "batches": 0,
        "webhook_endpoints": 0,
        "webhook_events": 0,
        "webhook_deliveries": 0,
        "usage_records": 0,
        "sessions": 0,
        "audit_events": 5
      },
      "out_of_reach": [
        "providers",
        "webhook_receivers",
        "backups",
        "bucket_versions",
        "logs",
        "database_space"
      ],
      "created_at": 1790000004,
      "created_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "finished_at": 1790000066
    }
  },
  "GET /v1/erasures": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "erasure_01jd8e5t9kf3qs7m2v4xw6ya0k",
          "object": "erasure",
          "api_key_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
          "status": "completed",
          "counts": {
            "tasks": 0,
            "files": 0,
            "uploads": 0,
            "idempotency_keys": 0,
            "calls": 0,
            "batches": 0,
            "webhook_endpoints": 0,
            "webhook_events": 0,
            "webhook_deliveries": 0,
            "usage_records": 0,
            "sessions": 0,
            "audit_events": 5
          },
          "out_of_reach": [
            "providers",
            "webhook_receivers",
            "backups",
            "bucket_versions",
            "logs",
            "database_space"
          ],
          "created_at": 1790000004,
          "created_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
          "finished_at": 1790000066
        }
      ],
      "has_more": false,
      "first_id": "erasure_01jd8e5t9kf3qs7m2v4xw6ya0k",
      "last_id": "erasure_01jd8e5t9kf3qs7m2v4xw6ya0k"
    }
  },
  "GET /v1/operations/audit_events": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "aud_01jd8e5t9kf3qs7m2v4xw6ya0m",
          "object": "audit_event",
          "created_at": 1790000004,
          "action": "api_key.erased",
          "actor_type": "api_key",
          "actor_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
          "target_type": "api_key",
          "target_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
          "ip": "127.0.0.1",
          "request_id": "req_01jd8e5t9kf3qs7m2v4xw6yzab",
          "session_id": null,
          "user_agent": null,
          "before": null,
          "after": {
            "erasure_id": "erasure_01jd8e5t9kf3qs7m2v4xw6ya0k"
          }
        },
        {
          "id": "aud_01jd8e5t9kf3qs7m2v4xw6ya0n",
          "object": "audit_event",
          "created_at": 1790000004,
          "action": "api_key.revoked",
          "actor_type": "api_key",
          "actor_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
          "target_type": "api_key",
          "target_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0j",
          "ip": "127.0.0.1",
          "request_id": "req_01jd8e5t9kf3qs7m2v4xw6yzab",
          "session_id": null,
          "user_agent": null,
          "before": {
            "limits": {},
            "scopes": [
              "generations:write",
              "tasks:read"
            ],
            "expires_at": null
          },
          "after": {
            "keep_tasks": false
          }
        }
      ],
      "has_more": true,
      "first_id": "aud_01jd8e5t9kf3qs7m2v4xw6ya0m",
      "last_id": "aud_01jd8e5t9kf3qs7m2v4xw6ya0n"
    }
  },
  "GET /v1/session": {
    "parameters": {},
    "response": {
      "id": "sess_01jd8e5t9kf3qs7m2v4xw6ya0p",
      "object": "session",
      "expires_at": 1790043266,
      "api_key": {
        "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
        "object": "api_key",
        "name": "BOOTSTRAP_API_KEY",
        "scopes": [
          "generations:write",
          "tasks:read",
          "tasks:cancel",
          "webhooks:manage",
          "keys:manage",
          "operations:read",
          "operations:manage"
        ],
        "limits": {
          "creates_per_minute": 0,
          "reads_per_minute": 0,
          "max_running": 50,
          "max_queued": 5000,
          "max_file_bytes": 5368709120,
          "weight": 10,
          "task_retention_days": 30,
          "file_retention_days": 7,
          "budget": null
        },
        "budget_status": null,
        "hint": "dr_VH…XdcI",
        "created_at": 1790000000,
        "expires_at": null,
        "last_used_at": 1790000064
      }
    }
  },
  "POST /v1/session": {
    "parameters": {},
    "request": {
      "api_key": "dr_0000000000000000000000000000000000000000000000",
      "remember": false
    },
    "response": {
      "id": "sess_01jd8e5t9kf3qs7m2v4xw6ya0q",
      "object": "session",
      "expires_at": 1790043266,
      "api_key": {
        "id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
        "object": "api_key",
        "name": "BOOTSTRAP_API_KEY",
        "scopes": [
          "generations:write",
          "tasks:read",
          "tasks:cancel",
          "webhooks:manage",
          "keys:manage",
          "operations:read",
          "operations:manage"
        ],
        "limits": {
          "creates_per_minute": 0,
          "reads_per_minute": 0,
          "max_running": 50,
          "max_queued": 5000,
          "max_file_bytes": 5368709120,
          "weight": 10,
          "task_retention_days": 30,
          "file_retention_days": 7,
          "budget": null
        },
        "budget_status": null,
        "hint": "dr_VH…XdcI",
        "created_at": 1790000000,
        "expires_at": null,
        "last_used_at": 1790000064
      }
    }
  },
  "GET /v1/operations": {
    "parameters": {},
    "response": {
      "object": "operations",
      "version": "0.1.0",
      "migration": "SecretKeys1700000000038",
      "known_migration": "SecretKeys1700000000038",
      "checks": {
        "database": "ok",
        "storage": "ok",
        "events": "ok",
        "queue": "ok"
      },
      "processes": {
        "live": 1,
        "late": 0,
        "draining": 0,
        "drained": 0,
        "lost": 0
      },
      "queue": [],
      "rates": {
        "started": 10,
        "succeeded": 8,
        "failed": 0,
        "created": 10,
        "ended": 10
      },
      "places": {
        "total": 50,
        "busy": 0
      },
      "objectives": [
        {
          "name": "requests",
          "objective": 0.999,
          "events": 2059,
          "bad": 0,
          "burn_rate": 0,
          "state": "met"
        },
        {
          "name": "creates",
          "objective": 0.99,
          "events": 2,
          "bad": 0,
          "burn_rate": 0,
          "state": "quiet"
        }
      ],
      "storage": "disk",
      "bus": {
        "kind": "postgres",
        "connected": true,
        "outbox": 0
      },
      "database_connections": {
        "used": 0,
        "idle": 2,
        "waiting": 0,
        "max": 20
      },
      "pauses": 0,
      "log_levels": {
        "object": "log_levels",
        "log_level": null,
        "log_levels": {},
        "changed_at": null,
        "changed_by": null
      },
      "sampled_at": 1790000066
    }
  },
  "GET /v1/operations/keys": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [],
      "has_more": false
    }
  },
  "GET /v1/operations/log_levels": {
    "parameters": {},
    "response": {
      "object": "log_levels",
      "log_level": null,
      "log_levels": {},
      "changed_at": null,
      "changed_by": null
    }
  },
  "PUT /v1/operations/log_levels": {
    "parameters": {},
    "request": {
      "log_level": "info",
      "log_levels": {
        "tasks": "debug"
      }
    },
    "response": {
      "object": "log_levels",
      "log_level": "info",
      "log_levels": {
        "tasks": "debug"
      },
      "changed_at": 1790000066,
      "changed_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h"
    }
  },
  "GET /v1/operations/tasks": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0r",
          "object": "operator_task",
          "api_key_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
          "model": "gpt-image-2",
          "kind": "image",
          "status": "running",
          "waiting_for": null,
          "pause_id": null,
          "stuck": null,
          "low_priority": false,
          "attempt": 1,
          "losses": 0,
          "worker_id": "host-1-12",
          "lease_until": 1790000096,
          "created_at": 1790000066,
          "started_at": 1790000066,
          "completed_at": null,
          "deadline_at": 1790000666,
          "provider": null,
          "provider_host": null,
          "provider_model": null,
          "credential": null,
          "submitted_at": null,
          "upstream_id": null,
          "request_id": "req_01jd8e5t9kf3qs7m2v4xw6yzab",
          "error_code": null
        }
      ],
      "has_more": false,
      "first_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0r",
      "last_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0r"
    }
  },
  "GET /v1/operations/tasks/{task_id}": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0r"
    },
    "response": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0r",
      "object": "operator_task",
      "api_key_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "model": "gpt-image-2",
      "kind": "image",
      "status": "running",
      "waiting_for": null,
      "pause_id": null,
      "stuck": null,
      "low_priority": false,
      "attempt": 1,
      "losses": 0,
      "worker_id": "host-1-12",
      "lease_until": 1790000096,
      "created_at": 1790000066,
      "started_at": 1790000066,
      "completed_at": null,
      "deadline_at": 1790000666,
      "provider": null,
      "provider_host": null,
      "provider_model": null,
      "credential": null,
      "submitted_at": null,
      "upstream_id": null,
      "request_id": "req_01jd8e5t9kf3qs7m2v4xw6yzab",
      "error_code": null
    }
  },
  "GET /v1/operations/tasks/{task_id}/timeline": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0r"
    },
    "response": {
      "object": "list",
      "data": [
        {
          "at_ms": 1795433206178,
          "type": "queued",
          "attempt": 0,
          "provider": null,
          "detail": null
        },
        {
          "at_ms": 1795433206180,
          "type": "started",
          "attempt": 1,
          "provider": null,
          "detail": null
        }
      ],
      "has_more": false
    }
  },
  "POST /v1/operations/tasks/{task_id}/cancel": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0r"
    },
    "response": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0r",
      "object": "operator_task",
      "api_key_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "model": "gpt-image-2",
      "kind": "image",
      "status": "failed",
      "waiting_for": null,
      "pause_id": null,
      "stuck": null,
      "low_priority": false,
      "attempt": 1,
      "losses": 0,
      "worker_id": "host-1-12",
      "lease_until": null,
      "created_at": 1790000066,
      "started_at": 1790000066,
      "completed_at": 1790000066,
      "deadline_at": 1790000666,
      "provider": null,
      "provider_host": null,
      "provider_model": null,
      "credential": null,
      "submitted_at": null,
      "upstream_id": null,
      "request_id": "req_01jd8e5t9kf3qs7m2v4xw6yzab",
      "error_code": "task_cancelled"
    }
  },
  "POST /v1/operations/tasks/cancel": {
    "parameters": {},
    "request": {
      "filter": {
        "model": "gpt-image-2"
      }
    },
    "response": {
      "object": "tasks_changed",
      "matched": 0,
      "changed": 0
    }
  },
  "POST /v1/operations/tasks/{task_id}/release": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0s"
    },
    "response": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0s",
      "object": "operator_task",
      "api_key_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "model": "gpt-image-2",
      "kind": "image",
      "status": "running",
      "waiting_for": null,
      "pause_id": null,
      "stuck": null,
      "low_priority": false,
      "attempt": 2,
      "losses": 0,
      "worker_id": null,
      "lease_until": 0,
      "created_at": 1790000066,
      "started_at": 1790000066,
      "completed_at": null,
      "deadline_at": 1790000666,
      "provider": null,
      "provider_host": null,
      "provider_model": null,
      "credential": null,
      "submitted_at": null,
      "upstream_id": null,
      "request_id": "req_01jd8e5t9kf3qs7m2v4xw6yzab",
      "error_code": null
    }
  },
  "POST /v1/operations/tasks/release": {
    "parameters": {},
    "request": {
      "filter": {
        "model": "gpt-image-2"
      }
    },
    "response": {
      "object": "tasks_changed",
      "matched": 1,
      "changed": 1
    }
  },
  "POST /v1/operations/tasks/{task_id}/fail": {
    "parameters": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0t"
    },
    "request": {
      "code": "provider_unavailable"
    },
    "response": {
      "task_id": "task_01jd8e5t9kf3qs7m2v4xw6ya0t",
      "object": "operator_task",
      "api_key_id": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "model": "gpt-image-2",
      "kind": "image",
      "status": "failed",
      "waiting_for": null,
      "pause_id": null,
      "stuck": null,
      "low_priority": false,
      "attempt": 1,
      "losses": 0,
      "worker_id": "host-1-12",
      "lease_until": null,
      "created_at": 1790000066,
      "started_at": 1790000066,
      "completed_at": 1790000066,
      "deadline_at": 1790000666,
      "provider": null,
      "provider_host": null,
      "provider_model": null,
      "credential": null,
      "submitted_at": null,
      "upstream_id": null,
      "request_id": "req_01jd8e5t9kf3qs7m2v4xw6yzab",
      "error_code": "provider_unavailable"
    }
  },
  "POST /v1/operations/tasks/fail": {
    "parameters": {},
    "request": {
      "filter": {
        "model": "gpt-image-2"
      },
      "code": "provider_unavailable"
    },
    "response": {
      "object": "tasks_changed",
      "matched": 0,
      "changed": 0
    }
  },
  "GET /v1/operations/providers": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "place": 1,
          "object": "provider_place",
          "provider": "sandbox",
          "host": null,
          "credential": null,
          "credential_present": true,
          "models": [
            {
              "model": "gpt-image-2",
              "position": 1,
              "upstream_model": "gpt-image-2",
              "succeeded_last_hour": 6,
              "failed_last_hour": 0,
              "last_error_code": null,
              "last_error_at": null
            },
            {
              "model": "nano-banana-2",
              "position": 1,
              "upstream_model": "nano-banana-2",
              "succeeded_last_hour": 0,
              "failed_last_hour": 0,
              "last_error_code": null,
              "last_error_at": null
            }
          ],
          "concurrency": null,
          "in_flight": 0,
          "users": [],
          "circuit_open_in": [],
          "error_share": 0,
          "passed_over": [],
          "pauses": []
        }
      ],
      "has_more": false
    }
  },
  "POST /v1/operations/providers/{place}/close_circuit": {
    "parameters": {
      "place": "1"
    },
    "response": {
      "place": 1,
      "object": "provider_place",
      "provider": "sandbox",
      "host": null,
      "credential": null,
      "credential_present": true,
      "models": [
        {
          "model": "gpt-image-2",
          "position": 1,
          "upstream_model": "gpt-image-2",
          "succeeded_last_hour": 6,
          "failed_last_hour": 0,
          "last_error_code": null,
          "last_error_at": null
        },
        {
          "model": "nano-banana-2",
          "position": 1,
          "upstream_model": "nano-banana-2",
          "succeeded_last_hour": 0,
          "failed_last_hour": 0,
          "last_error_code": null,
          "last_error_at": null
        }
      ],
      "concurrency": null,
      "in_flight": 0,
      "users": [],
      "circuit_open_in": [],
      "error_share": 0,
      "passed_over": [],
      "pauses": []
    }
  },
  "POST /v1/operations/pauses": {
    "parameters": {},
    "request": {
      "model": "sora-2",
      "reason": "The provider is under maintenance"
    },
    "response": {
      "id": "pause_01jd8e5t9kf3qs7m2v4xw6ya0v",
      "object": "pause",
      "kind": "model",
      "model": "sora-2",
      "provider": null,
      "place": null,
      "reason": "The provider is under maintenance",
      "refuse_creates": false,
      "models": [
        "sora-2"
      ],
      "tasks": 0,
      "until": null,
      "created_at": 1790000066,
      "created_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
      "ended_at": null
    }
  },
  "GET /v1/operations/pauses": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "pause_01jd8e5t9kf3qs7m2v4xw6ya0v",
          "object": "pause",
          "kind": "model",
          "model": "sora-2",
          "provider": null,
          "place": null,
          "reason": "The provider is under maintenance",
          "refuse_creates": false,
          "models": [
            "sora-2"
          ],
          "tasks": 0,
          "until": null,
          "created_at": 1790000066,
          "created_by": "key_01jd8e5t9kf3qs7m2v4xw6ya0h",
          "ended_at": null
        }
      ],
      "has_more": false,
      "first_id": "pause_01jd8e5t9kf3qs7m2v4xw6ya0v",
      "last_id": "pause_01jd8e5t9kf3qs7m2v4xw6ya0v"
    }
  },
  "DELETE /v1/operations/pauses/{id}": {
    "parameters": {
      "id": "pause_01jd8e5t9kf3qs7m2v4xw6ya0v"
    },
    "response": ""
  },
  "GET /v1/operations/processes": {
    "parameters": {},
    "response": {
      "object": "list",
      "data": [
        {
          "id": "host-1-12",
          "object": "process",
          "role": "all",
          "version": "0.1.0",
          "host": "host-1",
          "state": "live",
          "started_at": 1789999993,
          "last_seen_at": 1790000066,
          "slots": 50,
          "busy": 0,
          "drain_requested": false,
          "lease_margin_s": null,
          "circuits": [
            {
              "open": false,
              "place": 1,
              "failures": 0,
              "provider": "sandbox"
            }
          ],
          "database_connections": {
            "max": 20,
            "idle": 2,
            "used": 0,
            "waiting": 0
          },
          "bus_connected": true,
          "log_level": "silent",
          "log_levels": {}
        }
      ],
      "has_more": false
    }
  },
  "GET /v1/operations/processes/{id}": {
    "parameters": {
      "id": "host-1-12"
    },
    "response": {
      "id": "host-1-12",
      "object": "process",
      "role": "all",
      "version": "0.1.0",
      "host": "host-1",
      "state": "live",
      "started_at": 1789999993,
      "last_seen_at": 1790000066,
      "slots": 50,
      "busy": 0,
      "drain_requested": false,
      "lease_margin_s": null,
      "circuits": [
        {
          "open": false,
          "place": 1,
          "failures": 0,
          "provider": "sandbox"
        }
      ],
      "database_connections": {
        "max": 20,
        "idle": 2,
        "used": 0,
        "waiting": 0
      },
      "bus_connected": true,
      "log_level": "silent",
      "log_levels": {}
    }
  },
  "POST /v1/operations/processes/{id}/drain": {
    "parameters": {
      "id": "host-1-12"
    },
    "response": {
      "id": "host-1-12",
      "object": "process",
      "role": "all",
      "version": "0.1.0",
      "host": "host-1",
      "state": "draining",
      "started_at": 1789999993,
      "last_seen_at": 1790000066,
      "slots": 50,
      "busy": 0,
      "drain_requested": true,
      "lease_margin_s": null,
      "circuits": [
        {
          "open": false,
          "place": 1,
          "failures": 0,
          "provider": "sandbox"
        }
      ],
      "database_connections": {
        "max": 20,
        "idle": 9,
        "used": 0,
        "waiting": 1
      },
      "bus_connected": true,
      "log_level": "info",
      "log_levels": {
        "tasks": "debug"
      }
    }
  },
  "POST /v1/operations/processes/{id}/resume": {
    "parameters": {
      "id": "host-1-12"
    },
    "response": {
      "id": "host-1-12",
      "object": "process",
      "role": "all",
      "version": "0.1.0",
      "host": "host-1",
      "state": "drained",
      "started_at": 1789999993,
      "last_seen_at": 1790000066,
      "slots": 50,
      "busy": 0,
      "drain_requested": false,
      "lease_margin_s": null,
      "circuits": [
        {
          "open": false,
          "place": 1,
          "failures": 0,
          "provider": "sandbox"
        }
      ],
      "database_connections": {
        "max": 20,
        "idle": 9,
        "used": 0,
        "waiting": 1
      },
      "bus_connected": true,
      "log_level": "info",
      "log_levels": {
        "tasks": "debug"
      }
    }
  }
};
