internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults

extension Redeemer {
    /// A redeem, as far as the request alone tells.
    struct Attempt: Sendable {
        let call: DeviceCall
        let context: CallContext
        let now: Timestamp
        let place: RedeemRule.Place
        /// `nil`: it was never a value.
        let value: TokenValue?
        private let request: RedeemTokenRequest

        /// - Throws: `invalid_request`.
        init(_ request: RedeemTokenRequest, _ context: CallContext, now: Timestamp) throws(Fault) {
            guard let call = request.call else { throw Fault(.invalidRequest, "Required 'call' is not present.") }
            self.call = call
            self.context = context
            self.now = now
            self.request = request
            place = RedeemRule.Place(bundleID: AppleClientID(request.bundleID), environment: try request.environment.required())
            value = TokenValue(request.value)
        }

        /// - Throws: `invalid_request` when the key is too long.
        func idempotentPlace(_ caller: IdentifiedCaller) throws(Fault) -> IdempotentPlace? {
            var subject = request
            subject.call = nil
            subject.idempotencyKey = ""
            return try IdempotentPlace("RedeemToken", key: request.idempotencyKey, caller: [caller.clientID, caller.deviceID], request: subject)
        }
    }
}

extension StreamingSessionRecord {
    init(_ session: Session, _ caller: IdentifiedCaller, family: FamilyRecord, now: Timestamp) {
        self.init(
            id: StreamingSessionID(session.id), account: family.account, programmer: family.programmer, requestor: RequestorID(caller.requestor),
            device: DeviceID(caller.deviceID), deviceLabel: caller.device?.label ?? "Device", client: ClientID(caller.clientID),
            origin: .automatic(family.id), createdAt: Timestamp(milliseconds: Int64(clamping: session.createdAtMilliseconds)), lastUsedAt: now,
            expiresAt: Timestamp(milliseconds: Int64(clamping: session.expiresAtMilliseconds)))
    }

    /// Whether it is that session but for when it was used.
    func isSame(as other: StreamingSessionRecord) -> Bool {
        var other = other
        other.lastUsedAt = lastUsedAt
        return self == other
    }
}
