internal import SandboxKit
internal import Clocks

/// The caller, and the device that it calls for, after the checks of rest-v2 §1.5.
struct VendorCaller: Sendable {
    let client: ClientRegistry.Client
    let serviceProvider: VendorCatalogue.ServiceProvider

    /// Bearer token, service provider, and that they fit.
    /// - Throws: `invalid_access_token_…`, `invalid_parameter_service_provider`; a plain 403 where tests want that for clients that are gone.
    init(_ call: VendorCall, _ state: VendorState) throws {
        client = try Self.client(call, state, scope: SoftwareStatement.apiScope)
        guard let serviceProvider = state.catalogue.serviceProvider(call.parameter("sp")) else {
            throw VendorRefusal(.invalidServiceProvider)
        }
        guard state.registry.statement(id: client.statement)?.covers(serviceProvider.id) == true else {
            throw VendorRefusal(.tokenOfOtherServiceProvider)
        }
        self.serviceProvider = serviceProvider
    }

    /// - Throws: `invalid_access_token_client_application` unless a living token with the scope came along.
    static func client(_ call: VendorCall, _ state: VendorState, scope: String) throws -> ClientRegistry.Client {
        guard let token = call.bearer.flatMap(state.registry.token), call.now < token.end else { throw VendorRefusal(.tokenInvalid) }
        guard let client = state.registry.client(token.client) else {
            if state.behaviour.goneClientStatus == 403 { throw GoneClient() }
            throw VendorRefusal(.tokenInvalid)
        }
        guard token.scopes.contains(where: { $0 == scope }) else { throw VendorRefusal(.tokenInvalid) }
        return client
    }
}

/// The client of a token is gone, and the answer is that of rest-v1 §2.2.
struct GoneClient: Error {
    func answer() throws -> VendorAnswer { try .json(["error": "invalid_client"], status: 403, outcome: "invalid_client") }
}

/// A caller that names its device.
struct DeviceCaller: Sendable {
    let caller: VendorCaller
    let device: DeviceIdentifier
    let info: DeviceInfo
    /// The identities of the platform or service tokens that came along and are good.
    let identities: [SsoIdentity]

    var client: String { caller.client.id }
    var serviceProvider: VendorCatalogue.ServiceProvider { caller.serviceProvider }

    /// - Throws: `VendorRefusal` of rest-v2 §1.5, in its order.
    init(_ call: VendorCall, _ state: VendorState) throws {
        caller = try VendorCaller(call, state)
        device = try DeviceIdentifier(header: call.header("ap-device-identifier"))
        info = try DeviceInfo(header: call.header("x-device-info"))
        identities = state.identities.found(in: call)
    }

    /// The integration of the MVPD in the path: one that is known and integrated, switched on.
    /// - Throws: `invalid_parameter_mvpd`, `invalid_integration`.
    func integration(_ mvpd: String, _ state: VendorState) throws(VendorRefusal) -> (VendorCatalogue.Mvpd, VendorCatalogue.Integration) {
        try Self.integration(mvpd, of: serviceProvider.id, state)
    }

    static func integration(
        _ mvpd: String, of serviceProvider: String, _ state: VendorState
    ) throws(VendorRefusal) -> (VendorCatalogue.Mvpd, VendorCatalogue.Integration) {
        guard let known = state.catalogue.mvpd(mvpd) else { throw VendorRefusal(.invalidMvpd) }
        guard let integration = state.catalogue.integration(serviceProvider, mvpd), integration.isEnabled else {
            throw VendorRefusal(.invalidIntegration)
        }
        return (known, integration)
    }
}
