internal import Octets
internal import Foundation

extension EntitlementClient {
    /// Reads metadata of the session or the person.
    ///
    /// Values of the provider are fetched at each call, because they may change.
    /// - Returns: A value of `nil` when there is none, the device is not signed in, or the servers have no answer now.
    /// - Throws: `EntitlementError.notConfigured`, `CancellationError`.
    public func metadata(_ key: MetadataKey) async throws -> MetadataValue {
        let configuration = try await ready()
        switch key {
        case .deviceID: return MetadataValue(environment.revealsDeviceID ? .string(environment.device.id) : nil)
        case .authenticationExpiry:
            return MetadataValue(await goodToken(configuration).map { Self.milliseconds($0.expires) })
        case .authorizationExpiry(let resource):
            guard let token = await goodToken(configuration), let permission = keeper.permission(resource, token),
                now(configuration) < permission.expires
            else { return MetadataValue(nil) }
            return MetadataValue(Self.milliseconds(permission.expires))
        case .user(let name):
            guard let session = await goodSession(configuration) else { return MetadataValue(nil) }
            return try await userMetadata(name, session, configuration)
        }
    }

    private func userMetadata(_ name: String, _ session: ActiveSession, _ configuration: ServiceConfiguration) async throws -> MetadataValue {
        do {
            guard let metadata = try await api(configuration, session.token.provider).userMetadata(session) else { return MetadataValue(nil) }
            return MetadataValue(metadata.values[name], isEncrypted: metadata.encrypted.contains(name))
        } catch is ServerFailure {
            return MetadataValue(nil)
        }
    }

    private static func milliseconds(_ date: Date) -> JSONValue { .string("\(Int64((date.timeIntervalSince1970 * 1000).rounded()))") }
}
