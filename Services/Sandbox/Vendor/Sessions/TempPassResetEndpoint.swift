/// `DELETE /reset-tempass/v3/…` of the management host (rest-v2 §2.14).
struct TempPassResetEndpoint: Sendable {
    let memory: UpstreamMemory

    /// Resets the trials of a device, or all.
    func byDevice(_ call: UpstreamCall) throws -> UpstreamAnswer { try reset(call, device: call.queryValue("device_id"), identity: nil) }

    /// Resets the trials of an identity, or all.
    func byIdentity(_ call: UpstreamCall) throws -> UpstreamAnswer { try reset(call, device: nil, identity: call.queryValue("key")) }

    private func reset(_ call: UpstreamCall, device: String?, identity: String?) throws -> UpstreamAnswer {
        try memory.access { state in
            let client = try UpstreamCaller.client(call, state, scope: SoftwareStatement.resetScope)
            guard let provider = call.queryValue("requestor_id"), let mvpd = call.queryValue("mvpd_id"), state.catalogue.mvpd(mvpd)?.tempPass != nil
            else { return try .dcr("invalid_request") }
            guard state.registry.statement(id: client.statement)?.covers(provider) == true else {
                return .empty(403, outcome: "foreign-service-provider")
            }
            state.trials.reset(provider, mvpd, device: Self.named(device), identity: Self.named(identity))
            return .empty(204, outcome: "reset")
        }
    }

    /// `all` names nobody.
    private static func named(_ text: String?) -> String? { text == "all" ? nil : text }
}
