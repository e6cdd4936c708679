internal import Catalogue
public import ContractRuntime
public import Contracts
internal import Faults

extension AuthorizationService {
    /// Which of several resources the device may watch (rest-v1 §3.16). Makes no authz tokens.
    ///
    /// Checks in the order of rest-v1 §2.8: bearer, requestor, device, resources, session, integration, limit, degradation rule, MVPD.
    public func preauthorize(_ request: PreauthorizeRequest, context: CallContext) async throws -> Preauthorization {
        let found = try await sessions.find(request.call, context: context)
        return try await preauthorize(request.resources, found, context: context)
    }

    /// The same for the device that a code was made for (rest-v1 §3.17).
    public func preauthorizeByCode(_ request: PreauthorizeByCodeRequest, context: CallContext) async throws -> Preauthorization {
        let found = try await sessions.findByCode(request, context: context)
        return try await preauthorize(request.resources, found, context: context)
    }

    private func preauthorize(
        _ list: ResourceList?, _ found: Result<SessionAtHand, Fault>, context: CallContext
    ) async throws(Fault) -> Preauthorization {
        let resources = try (list?.items.isEmpty == false ? RequestedResources(each: list?.items ?? []) : RequestedResources(list?.text)).items
        let session = try found.get()
        let catalogue = try catalogue.current()
        let integration = try catalogue.requireIntegration(requestor: session.requestor, mvpd: session.mvpd, platform: session.platform)
        let answer = try await preauthorizer.preauthorize(
            resources, session, integration: integration, degradation: degradation(session, catalogue), context: context)
        metrics.count(answer, of: resources, session)
        return answer
    }
}
