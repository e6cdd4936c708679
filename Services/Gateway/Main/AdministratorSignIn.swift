internal import GatewayAdministration
internal import GatewayEdge
internal import OutboundHttp
internal import ServiceKit

/// The identity provider of the settings, with what it needs of the machine.
enum AdministratorSignIn {
    private static let key = "gateway.admin.openIDConnect.clientSecretFile"

    /// - Returns: `nil` where the settings have none.
    static func provider(_ environment: ServiceEnvironment<GatewaySettings>) -> OpenIDProvider? {
        guard let settings = environment.settings.admin.openIDConnect else { return nil }
        let transport = OutboundHttp(environment.outbound)
        environment.onStop { await transport.shutdown() }
        let files = environment.files
        return OpenIDProvider(settings: settings, secret: { try secret(settings, files) }, transport: transport, clock: environment.clock)
    }

    /// - Throws: The setting whose file cannot be used.
    static func check(_ settings: GatewaySettings, _ files: SettingsFiles) throws {
        if let settings = settings.admin.openIDConnect { _ = try secret(settings, files) }
    }

    private static func secret(_ settings: OpenIDSettings, _ files: SettingsFiles) throws -> String {
        let text = try files.text(settings.clientSecretFile, key: key)
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw files.failure(key, "names an empty file: \(files.path(settings.clientSecretFile))")
        }
        return text
    }
}
