internal import Contracts
internal import Clocks

/// A person who signed in on an Apple TV a moment ago, as the examiner's Authentication service reports them.
struct TestSubscriber: Sendable {
    static let bundleID = "example.acme.tv"

    let viewer: TestViewer
    /// Its own address: the redeems of one address are limited.
    private let address = "198.18.\(UInt8.random(in: .min ... .max)).\(UInt8.random(in: .min ... .max))"

    /// - Parameters:
    ///   - user: The device's user; `nil`: a new user.
    ///   - mvpd: One that takes part in automatic sign-in.
    ///   - age: Since the sign-in.
    init(_ examination: Examination, mvpd: String = "NorthCable", kind: SessionKind = .regular, age: Duration = .seconds(1)) async throws {
        viewer = try await TestViewer(examination, mvpd: mvpd)
        guard !mvpd.isEmpty else { return }
        var subject = viewer.peers.doubles.authentication.subject(device: viewer.device, requestor: viewer.requestor)
        subject.session?.mvpd = mvpd
        subject.session?.kind = kind
        subject.session?.createdAtMilliseconds = UInt64(clamping: (SystemClock().now() - age).milliseconds)
        viewer.peers.doubles.authentication.put(subject, device: viewer.device, requestor: viewer.requestor)
    }

    var conversation: Conversation { viewer.conversation }
    var call: DeviceCall {
        var call = viewer.call
        call.clientAddress = address
        return call
    }
    var caller: Caller { Caller(who: .device(call)) }

    func request(_ change: (inout IssueTokenRequest) -> Void = { _ in }) -> IssueTokenRequest {
        var request = IssueTokenRequest(
            call: call, bundleID: Self.bundleID, environment: .production, contextAuthorization: .granted,
            idempotencyKey: TestApp.device())
        change(&request)
        return request
    }

    /// A family with its value on the Apple Account.
    func optIn() async throws -> IssuedToken {
        let issued = try await conversation.call(AutomaticSignInMethods.issueToken, request())
        try await conversation.call(
            AutomaticSignInMethods.confirmStored,
            ConfirmStoredRequest(call: call, familyID: issued.familyID, outcome: .stored, idempotencyKey: TestApp.device()))
        return issued
    }

    func redeem(_ value: String, _ change: (inout RedeemTokenRequest) -> Void = { _ in }) -> RedeemTokenRequest {
        var request = RedeemTokenRequest(
            call: call, value: value, bundleID: Self.bundleID, environment: .production, idempotencyKey: TestApp.device())
        change(&request)
        return request
    }

    /// Signs this device in by a value.
    @discardableResult
    func redeemed(_ value: String) async throws -> RedeemedToken {
        try await conversation.call(AutomaticSignInMethods.redeemToken, redeem(value))
    }

    func requireRefused(_ value: String, as code: String) async throws {
        try await conversation.refusal(of: AutomaticSignInMethods.redeemToken, redeem(value), codes: [code])
    }

    func status() async throws -> OptInStatus {
        try await conversation.call(AutomaticSignInMethods.getOptInStatus, GetOptInStatusRequest(caller: caller))
    }

    func confirm(_ family: String, _ outcome: StorageOutcome = .stored) -> ConfirmStoredRequest {
        ConfirmStoredRequest(call: call, familyID: family, outcome: outcome, idempotencyKey: TestApp.device())
    }

    func revoke(_ family: String = "", value: String = "") -> RevokeTokenRequest {
        RevokeTokenRequest(caller: caller, value: value, familyID: family, reason: "conformance", idempotencyKey: TestApp.device())
    }

    func revokeAll(_ account: String = "", keeping session: String = "") -> RevokeAllRequest {
        RevokeAllRequest(
            caller: caller, accountID: account, reason: "conformance", keepSessionID: session, idempotencyKey: TestApp.device())
    }

    func flag(_ session: String) -> FlagSignInRequest { FlagSignInRequest(caller: caller, sessionID: session, idempotencyKey: TestApp.device()) }
}
