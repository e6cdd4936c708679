internal import Clocks
internal import Contracts

/// A signed-in device: whom it is, and what it asked for.
struct SessionAtHand: Sendable {
    let call: DeviceCall
    let session: Session
    let upstreamUserID: String

    var requestor: String { session.requestor }
    var mvpd: String { session.mvpd }
    var proxyMvpd: String? { session.proxyMvpd.isEmpty ? nil : session.proxyMvpd }
    var expiresAt: Timestamp { Timestamp(milliseconds: Int64(clamping: session.expiresAtMilliseconds)) }

    func tokenKey(_ resource: RequestedResource) -> AuthzTokenKey {
        AuthzTokenKey(session: session.id, device: call.deviceID, requestor: requestor, resource: resource.text)
    }
}
