internal import EntitlementClient
internal import Foundation
internal import LoadTool
internal import TextEncodings

/// A signed-in user starts playback: session check, authorization, media token (rest-v1 §4.5).
///
/// The devices are signed in and permitted before the measurement, so that no MVPD is asked: decisions are cached, as in real use.
final class PlaybackScript: PreparedScript {
    static let steps = ["checkauthn", "authorize", "media token"]
    let requests: [[[UInt8]]]

    /// - Parameter signed: True: the app signs its requests in place of bringing an access token; headers are made now, and good for a day.
    init(_ ground: GatewayGround, signed: Bool = false) {
        requests = ground.devices.map { device in
            var client = ground.clients[device.client]
            if signed, let signer = ground.signer {
                client = GatewayCalls.Client(
                    authorization: signer.header("GET", "/authorize", now: Date()), host: ground.calls.host, hardware: .appleTV)
            }
            let watched = ground.calls.device(device.id, [("resource", ground.resource)])
            return [
                ground.calls.get("/api/v1/checkauthn?\(ground.calls.device(device.id))", client),
                ground.calls.get("/api/v1/authorize?\(watched)", client), ground.calls.get("/api/v1/mediatoken?\(watched)", client),
            ]
        }
    }
}

/// A signed-in user starts the app: the MVPD list, the session, the user metadata (rest-v1 §3.3, §3.11, §3.19).
final class AppStartScript: PreparedScript {
    static let steps = ["MVPD list", "session of a start", "user metadata"]
    let requests: [[[UInt8]]]

    init(_ ground: GatewayGround) {
        requests = ground.devices.map { device in
            let (client, set) = (ground.clients[device.client], ground.calls.device(device.id))
            return [
                ground.calls.get("/api/v1/config/\(FormEncoding.encode(ground.calls.requestor))", client),
                ground.calls.get("/api/v1/tokens/authn?\(set)", client), ground.calls.get("/api/v1/tokens/usermetadata?\(set)", client),
            ]
        }
    }
}
