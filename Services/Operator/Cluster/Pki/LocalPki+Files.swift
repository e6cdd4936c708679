internal import Foundation

extension LocalPki {
    /// Names of which there is a certificate, and its key.
    static let certified = ["ca"] + peers + https + signers

    /// The files that `ensure` makes.
    static let files: [String] =
        certified.flatMap { ["\($0).crt", "\($0).key"] } + signingKeys.map { "\($0).key" } + appleKeys.flatMap { ["\($0).key", "\($0).pub"] }
        + symmetric + [platformKey, platformKeySet, "admin.token", testPassword]

    /// Those that are not there.
    var lacking: [String] { Self.files.filter { !FileManager.default.fileExists(atPath: path($0)) } }
}
