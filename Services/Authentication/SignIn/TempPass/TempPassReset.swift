internal import AuthenticationCore
internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Forgets trials, so that they may begin anew (rest-v1 §3.22). Sessions that exist go on until they end.
struct TempPassReset: CallRegistration {
    /// The scope that an application needs (rest-v1 §2.2).
    static let scope = "temporary:passes:owner"
    /// Stands for every device, or every user.
    private static let everyone = "all"

    let bearers: BearerCheck
    let catalogue: any CatalogueSource
    let store: SqlAuthenticationStore
    let metrics: AuthenticationMetrics
    /// The resets of trials that are kept elsewhere.
    let others: [any TrialResets]

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.resetTempPass) { request, _ in
            ResetTempPassResponse(trials: UInt32(clamping: try await reset(byBearer: request)))
        }
        calls.unary(AuthenticationOperationsMethods.resetTempPass) { request, _ in
            ResetTempPassResponse(trials: UInt32(clamping: try await reset(byOperator: request)))
        }
    }

    /// For an application.
    /// - Throws: The faults of `BearerCheck.client`, then those of an operator's reset.
    func reset(byBearer request: ResetTempPassRequest) async throws(Fault) -> Int {
        let client = try await bearers.client(request.accessToken, requestor: request.requestor, scope: Self.scope)
        return try await reset(request, in: client.catalogue)
    }

    /// For an operator.
    /// - Throws: `invalid_requestor`, `invalid_request` (no MVPD, or no TempPass), `unknown_integration`, `invalid_device_id`.
    /// - Returns: The number of forgotten trials.
    func reset(byOperator request: ResetTempPassRequest) async throws(Fault) -> Int {
        try await reset(request, in: catalogue.current())
    }

    private func reset(_ request: ResetTempPassRequest, in catalogue: Catalogue) async throws(Fault) -> Int {
        let requestor = try catalogue.requireRequestor(request.requestor).id
        guard !request.mvpd.isEmpty else { throw Fault(.invalidRequest, "Required 'mvpd_id' is not present") }
        // A switched off one may be reset as well: that is when it is prepared for the next campaign.
        for other in others {
            let scope = { () throws(Fault) in try Self.scope(request.scope) }
            if let trials = try await other.reset(scope, requestor: requestor, mvpd: request.mvpd, in: catalogue) { return trials }
        }
        guard catalogue.integration(requestor: requestor, mvpd: request.mvpd) != nil, let mvpd = catalogue.mvpd(request.mvpd) else {
            throw Fault(.unknownIntegration, "The MVPD is not integrated with the requestor.")
        }
        _ = try TrialTerms(mvpd)
        let trials = try await store.reset(try Self.scope(request.scope), requestor: RequestorID(requestor), mvpd: MvpdID(mvpd.id))
        metrics.resetTrials.increment(by: trials)
        return trials
    }

    private static func scope(_ scope: ResetTempPassRequest.Scope?) throws(Fault) -> TrialScope {
        switch scope {
        case nil, .deviceID(""), .deviceID(everyone): return .all
        case .deviceID(let id): return .device(try DeviceRules.device(id, allowsPlaceholder: false))
        case .key(""), .key(everyone): return .users
        case .key(let identifier): return .user(TrialUser(identifier: identifier))
        }
    }
}
