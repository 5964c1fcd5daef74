package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("DARKROOM_API_KEY"))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("DARKROOM_URL"), WithRequestEditorFn(key))
	check(err)
	resolution := GptImage2RequestResolution("1K")
	var body GenerationRequest
	check(body.FromGptImage2Request(GptImage2Request{Model: "gpt-image-2", Prompt: "A lighthouse", Resolution: &resolution}))
	wait := "wait=30"
	created, err := client.CreateGenerationWithResponse(context.Background(), &CreateGenerationParams{Prefer: &wait}, body)
	check(err)
	if created.JSON201 == nil {
		panic(string(created.Body))
	}
	task, err := created.JSON201.AsSucceededTask()
	check(err)
	file, err := client.GetFileWithResponse(context.Background(), task.Result.Outputs[0].Id, &GetFileParams{})
	check(err)
	if string(file.Body[1:4]) != "PNG" {
		panic(file.Status())
	}
	fmt.Println(file.HTTPResponse.Header.Get("content-type"))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
