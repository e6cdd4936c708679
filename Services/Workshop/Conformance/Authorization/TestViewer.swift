internal import Contracts
internal import Faults

/// A person on a device of their own, as the examiner's Authentication service reports them.
struct TestViewer: Sendable {
    let conversation: Conversation
    let peers: PlayedPeers
    let device: String
    let requestor: String

    /// - Parameters:
    ///   - mvpd: Where the person is signed in; empty: nowhere.
    init(_ examination: Examination, requestor: String = "ACME1", mvpd: String = "NorthCable") async throws {
        self.init(try await examination.greet(), try examination.peers(), requestor)
        if !mvpd.isEmpty { signIn(at: mvpd) }
    }

    private init(_ conversation: Conversation, _ peers: PlayedPeers, _ requestor: String) {
        self.conversation = conversation
        self.peers = peers
        device = TestApp.device()
        self.requestor = requestor
    }

    /// Another person on another device.
    func another(mvpd: String = "NorthCable") -> TestViewer {
        let other = TestViewer(conversation, peers, requestor)
        if !mvpd.isEmpty { other.signIn(at: mvpd) }
        return other
    }

    var call: DeviceCall {
        DeviceCall(
            accessToken: "conformance-bearer", requestor: requestor, deviceID: device,
            device: DeviceInformation(model: "Television", osName: "Linux"),
            clientAddress: "192.0.2.7")
    }

    var session: Session { peers.doubles.authentication.subject(device: device, requestor: requestor).session ?? Session() }

    /// A session in place of what the device has.
    /// - Parameters:
    ///   - id: The id of the session; `nil`: the device's own.
    ///   - lifetime: Seconds from now; `nil`: 30 days.
    func signIn(at mvpd: String, kind: SessionKind = .regular, id: String? = nil, lifetime: UInt64? = nil) {
        var subject = peers.doubles.authentication.subject(device: device, requestor: requestor)
        subject.session?.mvpd = mvpd
        subject.session?.kind = kind
        if let id { subject.session?.id = id }
        if let lifetime { subject.session?.expiresAtMilliseconds = TestClock.now + lifetime * 1000 }
        peers.doubles.authentication.put(subject, device: device, requestor: requestor)
    }

    func signOut() { peers.doubles.authentication.remove(device: device, requestor: requestor) }

    func fail(_ code: String) {
        peers.doubles.authentication.fail(device: device, requestor: requestor, with: Fault(Fault.Code(rawValue: code), "As the examiner says."))
    }

    // MARK: REST v1

    @discardableResult
    func authorize(_ resource: String) async throws -> Decision {
        try await conversation.call(AuthorizationMethods.authorize, AuthorizeRequest(call: call, resource: resource))
    }

    func resource(_ name: String) -> ResourceRequest { ResourceRequest(call: call, resource: name) }

    // MARK: REST v2

    func question(
        _ resources: [String], at mvpd: String = "NorthCable", identity: String = "", isPreliminary: Bool = false
    ) -> DecideRequest {
        var call = call
        call.api = .v2
        return DecideRequest(call: call, mvpd: mvpd, resources: resources, identity: identity, isPreliminary: isPreliminary)
    }

    /// - Throws: `Unmet` unless there is one decision for each resource, in the order of the request.
    func decide(
        _ resources: [String], at mvpd: String = "NorthCable", identity: String = "", isPreliminary: Bool = false
    ) async throws -> [ResourceDecision] {
        let request = question(resources, at: mvpd, identity: identity, isPreliminary: isPreliminary)
        let decisions = try await conversation.call(AuthorizationMethods.decide, request).decisions
        var seen: Set<String> = []
        let asked = resources.filter { seen.insert($0).inserted }
        guard decisions.map(\.resource) == asked else {
            throw Unmet("a decision for each of \(asked.prefix(8)), in this order", came: "decisions for \(decisions.map(\.resource).prefix(8))")
        }
        return decisions
    }

    /// - Throws: `Unmet` unless the resource is permitted, by that source, until a time to come, with a token.
    @discardableResult
    func watch(
        _ resource: String = "ACME1-NEWS", at mvpd: String = "NorthCable", identity: String = "", by source: DecisionSource = .dummy
    ) async throws -> (decision: ResourceDecision, token: MediaToken) {
        let decision = try await decide([resource], at: mvpd, identity: identity)[0]
        guard decision.authorized, decision.source == source, decision.refusal == nil, decision.expiresAtMilliseconds > TestClock.now,
            let token = decision.token
        else { throw Unmet("\(resource) authorized by \(source) until a time to come, with a token", came: FrameText.text(decision)) }
        return (decision, token)
    }

    /// - Throws: `Unmet` unless the resource is denied with the code, and has neither token nor end.
    @discardableResult
    func mayNotWatch(
        _ resource: String = "ACME1-NEWS", at mvpd: String = "NorthCable", identity: String = "", because code: String,
        by source: DecisionSource? = nil
    ) async throws -> ResourceRefusal {
        try Self.refusal(of: try await decide([resource], at: mvpd, identity: identity)[0], code, source)
    }

    @discardableResult
    static func refusal(of decision: ResourceDecision, _ code: String, _ source: DecisionSource? = nil) throws -> ResourceRefusal {
        guard !decision.authorized, let refusal = decision.refusal, refusal.code == code, decision.token == nil, decision.expiresAtMilliseconds == 0,
            source == nil || decision.source == source
        else {
            let by = source.map { " by \($0)" } ?? ""
            throw Unmet("\(decision.resource) not authorized\(by), with the code `\(code)`, no token and no end", came: FrameText.text(decision))
        }
        return refusal
    }
}
