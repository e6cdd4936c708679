internal import Octets

/// An event of a running operation. The result of the operation comes after all its events.
public enum EntitlementEvent: Sendable, Hashable {
    /// An advanced code.
    case status(Status)
    case tracking(Tracking)
    /// The device could not keep something (full, locked or broken storage). The operation went on; after a restart the person may have to sign in again.
    case storageFailed(StoreFailure)
}

/// Figures for the app's analytics (client-sdk §1.5).
public enum Tracking: Sendable, Hashable {
    /// - Parameters:
    ///   - userID: Stable for a person, see ``Session/userID``; empty without a session.
    ///   - isCached: The session existed before.
    case authentication(isSuccess: Bool, provider: Provider.ID?, userID: String, isCached: Bool, device: TrackedDevice)
    /// - Parameter error: The advanced code of a refusal, or empty.
    case authorization(
        isSuccess: Bool, provider: Provider.ID?, userID: String, isCached: Bool, error: String, details: String, device: TrackedDevice)
    case selectedProvider(Provider.ID?, device: TrackedDevice)
}

/// The device, as analytics see it.
public struct TrackedDevice: Sendable, Hashable {
    /// `computer`, `tablet`, `mobile`, `gameconsole` or `unknown`.
    public let deviceType: String
    /// `ios`.
    public let clientType: String
    /// Name and version of the system.
    public let system: String

    public init(deviceType: String, clientType: String = "ios", system: String) {
        (self.deviceType, self.clientType, self.system) = (deviceType, clientType, system)
    }
}
