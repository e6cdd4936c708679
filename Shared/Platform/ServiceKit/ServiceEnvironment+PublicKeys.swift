#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Clocks
internal import Cryptography
internal import Faults
internal import Foundation
public import Storage
public import Tokens

extension ServiceEnvironment {
    /// Shares public keys with copies on other hosts, once now and then every second. Does nothing where the store is not distributed.
    ///
    /// When others have keys and do not know one of these yet, it waits until they do. So everything that this copy signs is good everywhere from the
    /// first moment on.
    /// - Parameters:
    ///   - name: The use of the keys, for example `access token`.
    ///   - own: The contents of the files here, with their names.
    ///   - take: Gets what the files of all copies hold.
    /// - Throws: `StartFailure` when the store refuses it; `CancellationError`.
    public func sharePublicKeys(
        _ name: String, in store: Store, own: @escaping @Sendable () -> [(identifier: String, content: String)],
        take: @escaping @Sendable ([SharedPublicKey]) -> Void
    ) async throws {
        guard store.isDistributed else { return }
        let table = PublicKeyTable(store, name: name, clock: clock)
        let first = own()
        let names = Set(first.map { $0.identifier })
        do {
            let all = try await ask(store) { try await table.exchange(first) }
            take(all)
            let isNew = all.contains { names.contains($0.identifier) && $0.since + Self.hearing > clock.now() }
            if isNew, all.contains(where: { !names.contains($0.identifier) }) { try await Task.sleep(for: Self.hearing) }
        } catch let error as Fault {
            throw StartFailure("store \(store.place): public keys cannot be shared with other copies (\(error.cause ?? error))")
        }
        background("public keys") {
            while true {
                try await Task.sleep(for: .seconds(1))
                // Without an answer what is known counts on.
                if let all = try? await table.exchange(own()) { take(all) }
            }
        }
    }

    /// Until every copy has read the table.
    private static var hearing: Duration { .seconds(2) }
}

extension ServiceEnvironment {
    /// Shares the public halves of signing keys with copies on other hosts: all of them verify what any of them has signed.
    /// - Parameters:
    ///   - name: The use of the keys.
    ///   - whenChanged: Called when other keys verify than before.
    /// - Throws: As above.
    public func share(
        _ keys: SigningKeyRotation, named name: String, in store: Store, whenChanged: @escaping @Sendable () -> Void
    ) async throws {
        try await sharePublicKeys(name, in: store) {
            keys.published.map(Self.told)
        } take: { all in
            if keys.share(Self.keys(all), since: Self.moments(all)) { whenChanged() }
        }
    }

    /// The same for keys of service tokens.
    /// - Throws: As above.
    public func share(_ keys: ServiceTokenKeys, named name: String, in store: Store) async throws {
        try await sharePublicKeys(name, in: store) {
            keys.published.map(Self.told)
        } take: { all in
            keys.share(Self.keys(all), since: Self.moments(all))
        }
    }

    private static func told(_ key: JSONWebKey) -> (identifier: String, content: String) { (key.identifier, JSONWebKeySet(keys: [key]).json) }

    private static func keys(_ all: [SharedPublicKey]) -> [JSONWebKey] { all.flatMap { (try? JSONWebKeySet(json: $0.content).keys) ?? [] } }

    private static func moments(_ all: [SharedPublicKey]) -> [String: Timestamp] {
        Dictionary(all.map { ($0.identifier, $0.since) }) { first, _ in first }
    }
}

extension ServiceEnvironment {
    /// Returns where a key is: in the file that the settings name, or in the data folder, where it is made at the first start.
    /// - Parameters:
    ///   - named: The files that the settings name.
    ///   - file: Its name in the data folder otherwise.
    ///   - setting: Where the settings could name one, for the message.
    /// - Throws: `StartFailure` when it cannot be made.
    public func keyFile(_ named: String?, else file: String, _ kind: MadeKey.Kind, setting: String) throws(StartFailure) -> String {
        if let named { return named }
        let path = dataFile(file)
        do throws(MadeKey.Failure) {
            try MadeKey.ensure(path, kind)
        } catch {
            throw StartFailure("\(error) (or name a file under \(setting))")
        }
        return path
    }

    /// The same for a key that seals rows of a store. None is made beside rows that another one has sealed, which it could not open.
    /// - Parameter table: Whose rows they are.
    /// - Throws: `StartFailure` when it cannot be made, or such rows are there; `CancellationError`.
    public func keyFile(
        _ named: String?, else file: String, _ kind: MadeKey.Kind, setting: String, sealing table: String, in store: Store
    ) async throws -> String {
        let path = dataFile(file)
        if named == nil, !FileManager.default.fileExists(atPath: path) {
            let rows: Int
            do {
                rows = try await ask(store) { try await store.value(Statement("SELECT count(*) FROM \(table)")) ?? 0 }
            } catch let error as Fault {
                throw StartFailure("store \(store.place): \(table) cannot be read (\(error.cause ?? error))")
            }
            guard rows == 0 else {
                throw StartFailure(
                    """
                    \(path) is not there, and \(rows) rows of the table \(table) in \(store.place) are sealed by it: restore the file from the backup of keys, or name it \
                    under \(setting). Where it is lost, run DELETE FROM \(table), start, and write these secrets anew
                    """)
            }
        }
        return try keyFile(named, else: file, kind, setting: setting)
    }
}

/// A key that is made at the first start, for a settings file that names none.
public enum MadeKey {
    /// The file cannot be made for this reason.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    public enum Kind: Sendable {
        /// 64 random hex digits.
        case symmetric
        /// P-256, PEM.
        case signing
        /// RSA of 2048 bits, PEM.
        case rsa
    }

    /// Makes the file if it is absent, readable by this user alone. One of several copies that start at once makes it.
    /// - Parameter path: In a folder that is there.
    /// - Throws: `Failure`.
    public static func ensure(_ path: String, _ kind: Kind = .symmetric) throws(Failure) {
        guard access(path, F_OK) != 0 else { return }
        // Written whole beside it, and linked: nobody reads half of a key, and who comes second does not replace it.
        let draft = "\(path).\(UUID().uuidString).new"
        defer { unlink(draft) }
        if let code = put(try text(kind), in: draft) { throw Failure(description: "\(path) cannot be made; \(FileTrouble.advice(code))") }
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw Failure(description: "\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
    }

    /// - Returns: `errno` of what failed; `nil`: it is written.
    private static func put(_ text: String, in path: String) -> Int32? {
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var text = text
        let written = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
        return written == text.utf8.count ? nil : written < 0 ? errno : ENOSPC
    }

    private static func text(_ kind: Kind) throws(Failure) -> String {
        switch kind {
        case .symmetric: return Hex.encode(SecureRandom.bytes(32)) + "\n"
        case .signing: return try made { () throws(CryptographyError) in try P256PrivateKey.generate().pem() }
        case .rsa: return try made { () throws(CryptographyError) in try RSAPrivateKey.generate().pem() }
        }
    }

    private static func made(_ key: () throws(CryptographyError) -> String) throws(Failure) -> String {
        do {
            return try key()
        } catch {
            throw Failure(description: "a key cannot be made: \(error)")
        }
    }
}

/// Tells systemd about this program, by datagrams to the socket that it names (sd_notify(3)). Nothing waits for it, and nothing depends on it.
struct ServiceManager: Sendable {
    /// The socket is here: a path, or `@` and an abstract name.
    static let variable = "NOTIFY_SOCKET"

    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter environment: The environment of the process.
    /// - Returns: `nil` where nobody listens: without systemd, or where the unit has no `NotifyAccess`.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let name = environment[Self.variable], let first = name.utf8.first, [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first) else {
            return nil
        }
        var octets = Array(name.utf8)
        if first == UInt8(ascii: "@") { octets[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        self.address = address
        // An abstract name ends where the address does, a path with a NUL.
        let ending = first == UInt8(ascii: "@") ? 0 : 1
        length = socklen_t((MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) + octets.count + ending)
    }

    /// - Parameter lines: Each `NAME=value`.
    func tell(_ lines: String...) {
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array(lines.joined(separator: "\n").utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT), $0, length)
            }
        }
    }
}

extension Duration {
    /// As systemd counts.
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
