internal import AsyncHTTPClient
internal import Cryptography
internal import Faults
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Transport

/// Something did not work for one of these reasons, in plain words. Libraries have words of their own, which say nothing to whoever runs a cluster.
package enum PlainReason {
    /// Goes on from what did not work: `cannot write FILE: the disk is full`.
    package static func of(_ error: any Error) -> String {
        switch error {
        case let error as CommandFailure: error.description
        case let error as Fault: of(error)
        case let error as TlsError: of(error)
        case let error as CryptographyError: of(error)
        case let error as NIOConnectionError: of(error)
        case let error as IOError: of(errno: error.errnoCode)
        case let error as ChannelError: of(error)
        case let error as HTTPClientError: of(error)
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: "no TLS came about: its certificate is not trusted here, or it speaks none"
        case let error as POSIXError: of(errno: error.code.rawValue)
        case let error as DecodingError: of(error)
        case is EncodingError: "it cannot be written as JSON"
        case is CancellationError: "it was given up"
        default: foreign(error)
        }
    }

    /// - Parameter errno: A number of the system's.
    package static func of(errno number: Int32) -> String {
        switch number {
        case ENOENT: "there is no such file or folder"
        case EACCES, EPERM: "this user may not do that there"
        case EEXIST: "something of that name is there already"
        case ENOTDIR: "a part of the path is no folder"
        case EISDIR: "it is a folder"
        case ENOTEMPTY: "the folder is not empty"
        case ENOSPC: "the disk is full"
        case EDQUOT: "this user's share of the disk is used up"
        case EROFS: "the file system can only be read"
        case ENAMETOOLONG: "the name is too long"
        case ELOOP: "symbolic links lead in a circle"
        case EMFILE, ENFILE: "too many files are open"
        case ENOEXEC: "it is no program of this machine"
        case ECONNREFUSED: "connection refused: nobody listens there"
        case ECONNRESET, EPIPE: "the other side broke the connection off"
        case ETIMEDOUT: "the other side did not answer in time"
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN: "no way leads there"
        case EADDRINUSE: "another program listens there"
        case EADDRNOTAVAIL: "this machine has no such address"
        default: system(number)
        }
    }

    private static func system(_ number: Int32) -> String {
        let text = String(cString: strerror(number))
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    private static func of(_ fault: Fault) -> String {
        let message = fault.message.withoutEnd
        return fault.cause.map { "\(message) (\(of($0)))" } ?? message
    }

    private static func of(_ error: TlsError) -> String {
        switch error.code {
        case .unusableFile:
            // The text after it is the library's.
            guard let end = error.message.range(of: " cannot be used:") else { return error.message }
            return "\(error.message[..<end.lowerBound]) cannot be used: it is damaged, no PEM, or does not fit the others"
        case .handshakeTimedOut: return "no TLS came about: it does not answer the handshake"
        case .wrongPeerName: return "its certificate is genuine, but has another name"
        case .untrustedPeer: return "its certificate is not trusted here: \(untrusted(error.message))"
        case .refusedByPeer: return "it refuses the certificate of this side: \(refused(error.message))"
        case .handshakeFailed where error.message.hasPrefix("the peer"): return "no TLS came about: it left during the handshake"
        case .handshakeFailed: return "no TLS came about: it speaks no TLS 1.3, or no TLS at all"
        case .truncated: return "the other side broke the connection off"
        case .outOfMemory: return "there is no memory left for it"
        default: return "the other side does not keep to TLS"
        }
    }

    private static func untrusted(_ text: String) -> String {
        if text.contains("expired") { return "it has ended" }
        if text.contains("not yet valid") { return "it has not begun, or this machine's clock is behind" }
        if text.contains("refused") || text.contains("revoked") { return "it was taken back" }
        return "its authority is another one"
    }

    private static func refused(_ text: String) -> String {
        if text.contains("expired") { return "it has ended" }
        if text.contains("required") { return "it wants one, and got none" }
        if text.contains("unknown ca") { return "it does not know its authority" }
        return "it does not accept it"
    }

    private static func of(_ error: CryptographyError) -> String {
        guard case .failed(let operation, _) = error else { return error.description }
        return "\(operation) failed: the file is damaged or no such key"
    }

    private static func of(_ error: NIOConnectionError) -> String {
        if let first = error.connectionErrors.first?.error { return of(first) }
        return "the name '\(error.host)' cannot be resolved"
    }

    private static func of(_ error: ChannelError) -> String {
        switch error {
        case .connectTimeout: "the other side did not answer in time"
        case .eof, .ioOnClosedChannel, .alreadyClosed, .inputClosed, .outputClosed: "the other side broke the connection off"
        default: "the connection failed"
        }
    }

    private static func of(_ error: HTTPClientError) -> String {
        let late: [HTTPClientError] = [
            .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout,
        ]
        if late.contains(error) { return "the other side did not answer in time" }
        if [.invalidURL, .emptyHost, .emptyScheme].contains(error) { return "that is no address: it must be http://HOST or https://HOST" }
        if [.remoteConnectionClosed, .uncleanShutdown].contains(error) { return "the other side broke the connection off" }
        if [.cancelled, .requestStreamCancelled].contains(error) { return "it was given up" }
        return "the other side does not keep to HTTP"
    }

    private static func of(_ error: DecodingError) -> String {
        let context =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context), .dataCorrupted(let context): context
            @unknown default: nil as DecodingError.Context?
            }
        let path = (context?.codingPath ?? []).map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return "it is not the JSON that is expected" + (path.isEmpty ? "" : ", at \(path.hasPrefix(".") ? String(path.dropFirst()) : path)")
    }

    /// The reason from Foundation or a library that is not listed above. It may also come from this repository, whose errors say in plain words what
    /// they are.
    private static func foreign(_ error: any Error) -> String {
        let type = String(reflecting: type(of: error))
        let isForeign = ["NIO", "AsyncHTTPClient.", "Foundation", "Swift.", "__C.", "GRDB."].contains { type.hasPrefix($0) }
        guard isForeign || error is CocoaError else { return "\(error)" }
        return file(error as NSError) ?? "an error that is not foreseen here (\(type.split(separator: ".").last ?? ""))"
    }

    private static func file(_ error: NSError) -> String? {
        if error.domain == NSPOSIXErrorDomain { return of(errno: Int32(error.code)) }
        if let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError, let reason = file(cause) { return reason }
        guard error.domain == NSCocoaErrorDomain else { return nil }
        return switch CocoaError.Code(rawValue: error.code) {
        case .fileNoSuchFile, .fileReadNoSuchFile: of(errno: ENOENT)
        case .fileReadNoPermission, .fileWriteNoPermission: of(errno: EACCES)
        case .fileWriteFileExists: of(errno: EEXIST)
        case .fileWriteOutOfSpace: of(errno: ENOSPC)
        case .fileWriteVolumeReadOnly: of(errno: EROFS)
        case .fileReadTooLarge: "it is too large"
        case .fileReadInapplicableStringEncoding, .fileReadUnknownStringEncoding: "it is no UTF-8 text"
        case .fileReadCorruptFile, .propertyListReadCorrupt: "it is damaged, or no UTF-8 text"
        default: place(error) ?? "the file cannot be used"
        }
    }

    /// Foundation leaves out the system's reason here and there: the place itself tells it.
    private static func place(_ error: NSError) -> String? {
        guard let path = error.userInfo[NSFilePathErrorKey] as? String ?? (error.userInfo[NSURLErrorKey] as? URL)?.path else { return nil }
        var facts = stat()
        guard stat(path, &facts) == 0 else { return of(errno: errno) }
        return facts.st_mode & S_IFMT == S_IFDIR ? of(errno: EISDIR) : nil
    }
}
