import { aHang, type ErrorBody } from '../support/clients/api.ts';
import { joinService, type SharedService } from '../support/service.ts';

/** A client that has lost the value of a variable sends null, or nothing at all. */
describe('a value that a client has lost', () => {
  let service: SharedService;
  beforeAll(async () => void (service = await joinService()));
  afterAll(() => service.close());

  it.each(['cancel', 'release', 'fail'])('does not widen which tasks operators %s', async (act) => {
    const { body: task } = await service.api.create(aHang);
    const filter = { api_key_id: service.keyId, model: null };
    const body = { filter, ...(act === 'fail' && { code: 'internal_error' }) };
    const answer = await service.api.call<ErrorBody>('POST', `/v1/operations/tasks/${act}`, body);
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([
      400,
      'invalid_type',
      'filter.model',
    ]);
    expect((await service.api.get(`/v1/tasks/${task.task_id}`)).body.completed_at).toBe(0);
  });

  it('does not reset the log levels', async () => {
    const answer = await service.api.call<ErrorBody>('PUT', '/v1/operations/log_levels');
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_json']);
  });
});
