package import Cryptography
package import Faults

/// What stored tokens and device ids are sealed with: two keys out of the one that the operator keeps, so that no key serves two purposes (clients §3).
package final class StoredTokenSeals: Sendable {
    private let sessions: SymmetricKeyRing
    private let devices: SymmetricKeyRing

    /// - Parameter older: Keys from before, newest first: what they sealed opens.
    package init(_ key: SymmetricKey, older: [SymmetricKey] = []) throws(CryptographyError) {
        sessions = SymmetricKeyRing(current: try Self.derived(Self.session, key), older: try Self.derived(Self.session, older))
        devices = SymmetricKeyRing(current: try Self.derived(Self.device, key), older: try Self.derived(Self.device, older))
    }

    /// Those from before stay behind them for as long as the service runs.
    package func adopt(_ key: SymmetricKey, older: [SymmetricKey]) throws(CryptographyError) {
        let (session, device) = (try Self.derived(Self.session, key), try Self.derived(Self.device, key))
        let (olderSessions, olderDevices) = (try Self.derived(Self.session, older), try Self.derived(Self.device, older))
        sessions.adopt(current: session, older: olderSessions)
        devices.adopt(current: device, older: olderDevices)
    }

    /// Whose session a stored token stands for.
    package struct Handle: Hashable, Sendable {
        package let session: SessionID
        package let key: SessionKey
    }

    /// Opaque to whoever keeps it: neither the device's id nor the session's can be read from it.
    /// - Throws: `internal`.
    package func close(_ handle: Handle) throws(Fault) -> String {
        try Self.close(
            [handle.session.text, handle.key.requestor.text, handle.key.device.text].joined(separator: "\0"), sessions.current, Self.session)
    }

    /// - Returns: `nil` for what no key of ours has sealed.
    package func handle(_ sealed: String) -> Handle? {
        guard let parts = Self.open(sealed, sessions, Self.session)?.split(separator: "\0", maxSplits: 2, omittingEmptySubsequences: false),
            parts.count == 3
        else { return nil }
        let key = SessionKey(device: DeviceID(String(parts[2])), requestor: RequestorID(String(parts[1])))
        return Handle(session: SessionID(String(parts[0])), key: key)
    }

    /// - Throws: `internal`.
    package func close(_ device: DeviceID) throws(Fault) -> String { try Self.close(device.text, devices.current, Self.device) }

    /// - Returns: `nil` for what no key of ours has sealed.
    package func device(_ sealed: String) -> DeviceID? { Self.open(sealed, devices, Self.device).map { DeviceID($0) } }

    /// Of what is looked at, in octets: a device's id has at most 2048, and Base64 a third more.
    private static let longest = 4096
    private static let session = "boxoffice stored session"
    private static let device = "boxoffice device id"

    private static func close(_ text: String, _ key: SymmetricKey, _ purpose: String) throws(Fault) -> String {
        do {
            return Base64.url.encode(try AESGCM.seal(Array(text.utf8), key: key, context: Array(purpose.utf8)))
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    private static func open(_ sealed: String, _ keys: SymmetricKeyRing, _ purpose: String) -> String? {
        guard !sealed.isEmpty, sealed.utf8.count <= longest, let bytes = Base64.url.decode(sealed) else { return nil }
        for key in keys.all {
            if let text = try? AESGCM.open(bytes, key: key, context: Array(purpose.utf8)) { return String(validating: text, as: UTF8.self) }
        }
        return nil
    }

    private static func derived(_ purpose: String, _ key: SymmetricKey) throws(CryptographyError) -> SymmetricKey {
        try SymmetricKey(bytes: HMACSHA256.authenticate(Array(purpose.utf8), key: key))
    }

    private static func derived(_ purpose: String, _ keys: [SymmetricKey]) throws(CryptographyError) -> [SymmetricKey] {
        var all: [SymmetricKey] = []
        for key in keys { all.append(try derived(purpose, key)) }
        return all
    }
}
