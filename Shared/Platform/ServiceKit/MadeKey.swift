internal import Cryptography
internal import Foundation
internal import Storage
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A key that is made at the first start, for a settings file that names none.
public enum MadeKey {
    /// Why the file cannot be made.
    public struct Unusable: Error, Sendable, CustomStringConvertible {
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
    /// - Throws: `Unusable`.
    public static func ensure(_ path: String, _ kind: Kind = .symmetric) throws(Unusable) {
        guard access(path, F_OK) != 0 else { return }
        // Written whole beside it, and linked: nobody reads half of a key, and who comes second does not replace it.
        let draft = "\(path).\(UUID().uuidString).new"
        defer { unlink(draft) }
        if let code = put(try text(kind), in: draft) { throw Unusable(description: "\(path) cannot be made; \(FileTrouble.advice(code))") }
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw Unusable(description: "\(path) cannot be made: \(String(cString: strerror(errno)))")
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

    private static func text(_ kind: Kind) throws(Unusable) -> String {
        switch kind {
        case .symmetric: return Hex.encode(SecureRandom.bytes(32)) + "\n"
        case .signing: return try made { () throws(CryptographyError) in try P256PrivateKey.generate().pem() }
        case .rsa: return try made { () throws(CryptographyError) in try RSAPrivateKey.generate().pem() }
        }
    }

    private static func made(_ key: () throws(CryptographyError) -> String) throws(Unusable) -> String {
        do {
            return try key()
        } catch {
            throw Unusable(description: "a key cannot be made: \(error)")
        }
    }
}
