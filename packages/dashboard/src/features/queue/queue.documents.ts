import { graphql, type ResultOf } from '../../api/graphql.ts';

export const QueueUpdated = graphql(`
  subscription QueueUpdated {
    operationsUpdated {
      overview {
        version
        sampledAt
        queue {
          model
          waiting
          parked
          paused
          running
          oldestWaitingS
        }
        rates {
          started
          succeeded
          failed
        }
        processes {
          live
          late
          lost
        }
      }
      processes {
        id
        role
        host
        version
        startedAt
        lastSeenAt
        state
        busy
        slots
      }
      keys {
        apiKeyId
        name
        queued
        running
        maxRunning
      }
    }
  }
`);

export const QueueHistory = graphql(`
  query QueueHistory {
    operations {
      queueHistory(minutes: 60) {
        minute
        waiting
        parked
        running
      }
    }
  }
`);

export type QueueMinute = ResultOf<typeof QueueHistory>['operations']['queueHistory'][number];

export const DrainProcess = graphql(`
  mutation DrainProcess($id: String!, $reason: String) {
    drainProcess(id: $id, reason: $reason) {
      id
    }
  }
`);

export const ResumeProcess = graphql(`
  mutation ResumeProcess($id: String!, $reason: String) {
    resumeProcess(id: $id, reason: $reason) {
      id
    }
  }
`);

export const CancelTasks = graphql(`
  mutation CancelOperatorTasks($filter: OperatorTaskFilter!, $reason: String) {
    cancelOperatorTasks(filter: $filter, reason: $reason) {
      changed
    }
  }
`);

export const ReleaseTasks = graphql(`
  mutation ReleaseOperatorTasks($filter: OperatorTaskFilter!, $reason: String) {
    releaseOperatorTasks(filter: $filter, reason: $reason) {
      changed
    }
  }
`);
