import { graphql } from '../../api/graphql.ts';

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
