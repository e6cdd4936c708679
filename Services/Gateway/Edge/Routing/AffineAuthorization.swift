internal import ContractRuntime
internal import Contracts

/// Sends the calls of one device and requestor to one copy of the service. That copy counts its denials, and has its permits and its MVPD's answers
/// at hand.
struct AffineAuthorization: Authorization {
    private let service: any Authorization

    init(_ service: any Authorization) { self.service = service }

    func authorize(_ request: AuthorizeRequest, context: CallContext) async throws -> Decision {
        try await service.authorize(request, context: context.near(request.call))
    }

    func getAuthorization(_ request: ResourceRequest, context: CallContext) async throws -> Decision {
        try await service.getAuthorization(request, context: context.near(request.call))
    }

    func issueMediaToken(_ request: ResourceRequest, context: CallContext) async throws -> MediaToken {
        try await service.issueMediaToken(request, context: context.near(request.call))
    }

    func preauthorize(_ request: PreauthorizeRequest, context: CallContext) async throws -> Preauthorization {
        try await service.preauthorize(request, context: context.near(request.call))
    }

    /// The device is not known here.
    func preauthorizeByCode(_ request: PreauthorizeByCodeRequest, context: CallContext) async throws -> Preauthorization {
        try await service.preauthorizeByCode(request, context: context)
    }

    func decide(_ request: DecideRequest, context: CallContext) async throws -> Decisions {
        try await service.decide(request, context: context.near(request.call))
    }

    func exportPerson(_ request: PersonSessions, context: CallContext) async throws -> PersonRecords {
        try await service.exportPerson(request, context: context)
    }

    func erasePerson(_ request: PersonSessions, context: CallContext) async throws -> ErasedRecords {
        try await service.erasePerson(request, context: context)
    }

    func listFailingDecisionPoints(
        _ request: ListFailingDecisionPointsRequest, context: CallContext
    ) async throws -> FailingDecisionPoints { try await service.listFailingDecisionPoints(request, context: context) }

    func findRefusals(_ request: FindRefusalsRequest, context: CallContext) async throws -> SessionRefusals {
        try await service.findRefusals(request, context: context)
    }

    func getMediaTokenKeys(_ request: GetMediaTokenKeysRequest, context: CallContext) async throws -> MediaTokenKeys {
        try await service.getMediaTokenKeys(request, context: context)
    }
}

extension CallContext {
    fileprivate func near(_ call: DeviceCall?) -> CallContext {
        guard let call, !call.deviceID.isEmpty else { return self }
        var context = self
        context.affinity = CallContext.affinity(call.deviceID, call.requestor)
        return context
    }
}
