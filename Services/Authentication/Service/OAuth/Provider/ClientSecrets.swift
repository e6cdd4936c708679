internal import Foundation

/// Where client secrets come from.
protocol ClientSecrets: Sendable {
    /// - Returns: `nil` when there is none of that name.
    func secret(_ reference: SecretReference) -> ProviderSecret?
}

/// A folder with a file `<reference>.secret` each. A file is read when its secret is needed, so a new one needs no restart.
struct ClientSecretFolder: ClientSecrets {
    /// Absolute; `nil`: there are no secrets.
    let path: String?

    func secret(_ reference: SecretReference) -> ProviderSecret? {
        guard let path, Self.isName(reference.text), let content = FileManager.default.contents(atPath: "\(path)/\(reference.text).secret"),
            let text = String(validating: content, as: UTF8.self)
        else { return nil }
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return secret.isEmpty ? nil : ProviderSecret(secret)
    }

    /// Nothing that could lead out of the folder.
    private static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}
