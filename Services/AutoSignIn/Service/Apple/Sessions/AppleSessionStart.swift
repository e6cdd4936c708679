internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers

/// Gives a device its session after Sign in with Apple (apple §1.4): of one of the account's TV logins where one serves, else one without TV.
struct AppleSessionStart: Sendable {
    /// Beyond streaming: the person has signed in.
    static let scopes = StreamingSessionRecord.streamingScopes + ["account:read", "account:write"]
    /// Of a session without a login behind it; unused it ends much earlier.
    static let lifetime: Duration = .seconds(365 * 86_400)

    let logins: any Logins
    let clock: any WallClock
    let random: any RandomSource

    /// - Returns: `nil` when no login serves, or the device has one of its own.
    /// - Throws: Faults of `authentication` other than `subscription_required`.
    func startTV(_ call: DeviceCall?, _ caller: DeviceCaller, of account: AccountRecord?, _ context: CallContext) async throws(Fault)
        -> AutomaticSession?
    {
        guard let call, let account, !account.logins.isEmpty, caller.personLogin == nil else { return nil }
        let request = StartAutomaticSessionRequest(call: call, logins: account.logins.map(\.reference))
        do {
            return try await logins.startAutomaticSession(request, context: context.child())
        } catch let fault as Fault where fault.code == .subscriptionRequired {
            return nil
        } catch {
            throw .unexpected(error)
        }
    }

    func record(_ tv: AutomaticSession?, _ caller: DeviceCaller, account: AccountID, link: AppleLinkID, client: AppleClientID)
        -> StreamingSessionRecord
    {
        let now = clock.now()
        let end = tv?.session.map { Timestamp(milliseconds: Int64(clamping: $0.expiresAtMilliseconds)) } ?? now + Self.lifetime
        let id = tv?.session.map { StreamingSessionID($0.id) } ?? StreamingSessionID(random.uuid(madeAt: now))
        return StreamingSessionRecord(
            id: id, account: account, programmer: caller.programmer, requestor: caller.requestor, device: caller.device,
            deviceLabel: caller.deviceLabel, client: caller.client, origin: .apple(link, client), scopes: Self.scopes, hasTVSession: tv != nil,
            createdAt: now, lastUsedAt: now, expiresAt: end)
    }
}
