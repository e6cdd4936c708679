internal import Clocks

/// A caller that names its device.
struct DeviceCaller: Sendable {
    let caller: UpstreamCaller
    let device: DeviceIdentifier
    let info: DeviceInfo
    /// Of the platform or service tokens that came along and are good.
    let identities: [SsoIdentity]

    var client: String { caller.client.id }
    var serviceProvider: UpstreamCatalogue.ServiceProvider { caller.serviceProvider }

    /// - Throws: `UpstreamRefusal` of rest-v2 §1.5, in its order.
    init(_ call: UpstreamCall, _ state: UpstreamState) throws {
        caller = try UpstreamCaller(call, state)
        device = try DeviceIdentifier(header: call.header("ap-device-identifier"))
        info = try DeviceInfo(header: call.header("x-device-info"))
        identities = state.identities.found(in: call)
    }

    /// Of the MVPD in the path: one that is known and integrated, switched on.
    /// - Throws: `invalid_parameter_mvpd`, `invalid_integration`.
    func integration(_ mvpd: String, _ state: UpstreamState) throws(UpstreamRefusal) -> (UpstreamCatalogue.Mvpd, UpstreamCatalogue.Integration) {
        try Self.integration(mvpd, of: serviceProvider.id, state)
    }

    static func integration(
        _ mvpd: String, of serviceProvider: String, _ state: UpstreamState
    ) throws(UpstreamRefusal) -> (UpstreamCatalogue.Mvpd, UpstreamCatalogue.Integration) {
        guard let known = state.catalogue.mvpd(mvpd) else { throw UpstreamRefusal(.invalidMvpd) }
        guard let integration = state.catalogue.integration(serviceProvider, mvpd), integration.isEnabled else {
            throw UpstreamRefusal(.invalidIntegration)
        }
        return (known, integration)
    }
}
