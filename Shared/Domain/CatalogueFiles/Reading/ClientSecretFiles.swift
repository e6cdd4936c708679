internal import Foundation

/// Where the secrets lie that OAuth providers gave, as the authentication service reads them. Looked for here, never read.
package struct ClientSecretFiles: Hashable, Sendable {
    let folder: String

    func path(_ name: String) -> String { "\(folder)/\(name).secret" }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}
