public import ContractRuntime
public import Contracts

/// Stands in for the authorization service; each operation answers as its script says.
public final class AuthorizationDouble: Authorization {
    public let authorize = Scripted<AuthorizeRequest, Decision>()
    public let getAuthorization = Scripted<ResourceRequest, Decision>()
    public let issueMediaToken = Scripted<ResourceRequest, MediaToken>()
    public let getMediaTokenKeys = Scripted<GetMediaTokenKeysRequest, MediaTokenKeys>()
    public let preauthorize = Scripted<PreauthorizeRequest, Preauthorization>()
    public let preauthorizeByCode = Scripted<PreauthorizeByCodeRequest, Preauthorization>()
    public let decide = Scripted<DecideRequest, Decisions>()
    public let findRefusals = Scripted<FindRefusalsRequest, SessionRefusals>()
    public let exportPerson = Scripted<PersonSessions, PersonRecords>()
    public let erasePerson = Scripted<PersonSessions, ErasedRecords>()

    public init() {}

    public func decide(_ request: DecideRequest, context: CallContext) async throws -> Decisions {
        try await decide(request, context)
    }

    public func findRefusals(_ request: FindRefusalsRequest, context: CallContext) async throws -> SessionRefusals {
        try await findRefusals(request, context)
    }

    public func authorize(_ request: AuthorizeRequest, context: CallContext) async throws -> Decision {
        try await authorize(request, context)
    }

    public func getAuthorization(_ request: ResourceRequest, context: CallContext) async throws -> Decision {
        try await getAuthorization(request, context)
    }

    public func issueMediaToken(_ request: ResourceRequest, context: CallContext) async throws -> MediaToken {
        try await issueMediaToken(request, context)
    }

    public func getMediaTokenKeys(_ request: GetMediaTokenKeysRequest, context: CallContext) async throws -> MediaTokenKeys {
        try await getMediaTokenKeys(request, context)
    }

    public func preauthorize(_ request: PreauthorizeRequest, context: CallContext) async throws -> Preauthorization {
        try await preauthorize(request, context)
    }

    public func preauthorizeByCode(_ request: PreauthorizeByCodeRequest, context: CallContext) async throws -> Preauthorization {
        try await preauthorizeByCode(request, context)
    }

    public func exportPerson(_ request: PersonSessions, context: CallContext) async throws -> PersonRecords {
        try await exportPerson(request, context)
    }

    public func erasePerson(_ request: PersonSessions, context: CallContext) async throws -> ErasedRecords {
        try await erasePerson(request, context)
    }
}
