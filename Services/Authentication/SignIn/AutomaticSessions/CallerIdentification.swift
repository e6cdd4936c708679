internal import AuthenticationCore
internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Tells another service who calls it (apple §4).
struct CallerIdentification: Sendable {
    let bearers: BearerCheck
    let sessions: SessionLookup

    /// - Throws: As `BearerCheck.device` or, for a backend, `BearerCheck.backend`.
    func identify(_ request: IdentifyCallerRequest) async throws(Fault) -> IdentifiedCaller {
        if request.isBackend {
            let scope = request.scope.isEmpty ? ApiVersion.v1.scope : request.scope
            return IdentifiedCaller(try await bearers.backend(request.call, scope: scope), request.call?.requestor ?? "")
        }
        let caller = try await bearers.device(request.call, scopes: request.scope.isEmpty ? BearerCheck.appScopes : [request.scope])
        var identified = IdentifiedCaller(caller)
        if case .valid(let session) = try await sessions.state(of: caller, hidesDisabled: true) {
            identified.login = Login(session, in: caller.catalogue)
        }
        return identified
    }
}

extension IdentifiedCaller {
    /// - Parameter requestor: One that the client covers.
    init(_ client: AuthenticatedClient, _ requestor: String) {
        self.init(
            clientID: client.id.text, applicationID: client.application.id,
            programmerID: client.catalogue.requestor(requestor)?.programmerID ?? "", requestor: requestor)
    }

    init(_ caller: DeviceCaller) {
        self.init(caller.client, caller.requestor.text)
        deviceID = caller.device.text
        device = caller.information
    }
}

extension Login {
    init(_ session: SessionRecord, in catalogue: Catalogue) {
        let integration = catalogue.integration(requestor: session.key.requestor.text, mvpd: session.mvpd.text)
        self.init(
            session: session.contract(in: catalogue), authenticatedAtMilliseconds: UInt64(clamping: session.origin.authenticatedAt.milliseconds),
            allowsAutoSignIn: integration?.autoSignIn ?? false)
    }
}

extension CallerIdentification: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(LoginsMethods.identifyCaller) { request, _ in try await identify(request) }
    }
}
