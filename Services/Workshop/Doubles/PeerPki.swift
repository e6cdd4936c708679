internal import Foundation
public import Transport

/// A folder with the certificates of peers, as `boxoffice pki` makes it: `ca.crt`, and `NAME.crt`, `NAME.key` for each.
public struct PeerPki: Hashable, Sendable {
    public var folder: String
    /// Names of the callers that the doubles let in.
    public var callers: Set<String>

    public init(
        folder: String,
        callers: Set<String> = [
            "config.boxoffice", "authentication.boxoffice", "authorization.boxoffice", "autosignin.boxoffice", "gateway.boxoffice",
            "operator.boxoffice",
        ]
    ) {
        self.folder = folder
        self.callers = callers
    }

    /// - Parameter name: Such as `config` or `operator`.
    public func files(of name: String) -> TlsFiles {
        TlsFiles(certificate: path("\(name).crt"), key: path("\(name).key"), trustAnchors: path("ca.crt"))
    }

    /// The path of a file of the folder.
    public func path(_ file: String) -> String { URL(fileURLWithPath: folder).appendingPathComponent(file).path }
}
