internal import Contracts
internal import Faults
internal import GatewayEdge

/// The operators' questions to upstreams (bridge §15.3), for the API and for the console: config decides who may and keeps the record,
/// authentication asks.
struct UpstreamController: Sendable {
    /// A certificate of media tokens, in octets.
    static let largestCertificate = 65_536

    /// A part of a check, and the word that names it.
    typealias Part = (word: String, part: UpstreamCheckPart)

    static let parts: [Part] = [
        ("client", .client), ("session", .session), ("decision", .decision), ("throttle", .throttle), ("signIn", .signIn),
        ("signedIn", .signedIn),
    ]
    /// The catalogue's platforms, by their words there.
    static let platforms: [(word: String, platform: Platform)] = [
        ("ios", .ios), ("tvos", .tvos), ("roku", .roku), ("fireTv", .fireTv), ("android", .android), ("desktop", .desktop),
        ("otherMobile", .otherMobile), ("otherTv", .otherTv),
    ]

    let administration: any Administration
    let operations: any AuthenticationOperations

    /// Walks one part of a check.
    /// - Parameters:
    ///   - word: The part, as in `parts`; `request` has it too.
    ///   - token: The administrator's bearer or session.
    func check(_ request: CheckUpstreamRequest, part word: String, by token: String, _ exchange: Exchange) async throws -> UpstreamCheck {
        // One request of a browser walks several parts.
        try await authorize(token, "\(request.upstream) checked, \(word)", word, exchange)
        return try await operations.checkUpstream(request, context: exchange.partialCall(word))
    }

    /// - Throws: `not_found` also where the requestor uses another upstream.
    func offers(of upstream: String, requestor: String, platform: Platform, by token: String, _ exchange: Exchange) async throws -> UpstreamList {
        try await authorize(token, "", "", exchange)
        let request = ReadUpstreamListRequest(requestor: requestor, platform: platform)
        let list = try await operations.readUpstreamList(request, context: exchange.call)
        guard OctetText(list.upstream) == OctetText(upstream) else { throw AdministrationError.notFound("The requestor does not use that upstream.") }
        return list
    }

    /// Forgets our client that serves a device.
    /// - Returns: The number of sessions that ended.
    /// - Throws: 404 where none served it.
    func reset(_ device: String, at upstream: String, by token: String, _ exchange: Exchange) async throws -> UInt32 {
        // The audit log must not become a list of devices.
        try await authorize(token, "\(upstream) client of the device \(device.prefix(4))… reset", "reset", exchange)
        let outcome = try await operations.resetUpstreamClient(
            ResetUpstreamClientRequest(upstream: upstream, deviceID: device), context: exchange.changingCall)
        guard outcome.wasKnown else { throw AdministrationError.notFound("No client serves that device at the upstream.") }
        return outcome.sessions
    }

    /// - Parameters:
    ///   - subject: For the audit log; empty: nothing is changed.
    ///   - part: The part of the request's work that it is for.
    private func authorize(_ token: String, _ subject: String, _ part: String, _ exchange: Exchange) async throws {
        let check = CheckAdministratorRequest(token: token, permission: .upstream, subject: String(subject.prefix(200)))
        _ = try await administration.checkAdministrator(check, context: subject.isEmpty ? exchange.call : exchange.partialCall(part))
    }
}
