internal import LoadTool
internal import Simulation

/// A signed-in user starts playback in an app on the vendor's SDKs: the session's token, a permit's token, a media token (clients §3).
///
/// The tokens are made before anything is measured: an app keeps them, and here each of its calls is made in turn.
final class SdkScript: PreparedScript {
    static let steps = ["sessionDevice", "authorizeDevice", "deviceShortAuthorize"]
    let requests: [[[UInt8]]]

    init(_ ground: GatewayGround) {
        let paths = [SdkCalls.session, SdkCalls.permit, SdkCalls.play]
        requests = ground.devices.map { device in
            zip(paths, device.forms).map { ground.calls.post($0, ground.clients[device.client], form: $1) }
        }
    }
}
