import { graphql } from '../../api/graphql.ts';

export const Sessions = graphql(`
  query Sessions {
    sessions {
      id
      createdAt
      lastSeenAt
      expiresAt
      userAgent
      current
    }
  }
`);

export const EndSession = graphql(`
  mutation EndSession($id: String!) {
    endSession(id: $id) {
      id
    }
  }
`);

export const About = graphql(`
  query About {
    about {
      version
      publicUrl
      taskRetentionDays
      fileRetentionDays
      fileUrlTtlS
      maxUploadBytes
      webhookScheduleS
      graphiql
    }
  }
`);
