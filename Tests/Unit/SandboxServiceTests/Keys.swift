import Foundation

/// Keys made by OpenSSL once per test run.
struct Keys: Sendable {
    static let shared = Keys()

    let folder: URL

    private init() {
        folder = FileManager.default.temporaryDirectory.appending(path: "sandbox-keys-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for name in ["sp-signing", "sp-encryption", "north", "lake", "stranger"] { try make(name, bits: 2048) }
            try make("short", bits: 1024)
            for name in ["acme-sign-in", "acme-purchase", "bravo-sign-in", "bravo-purchase", "foreign"] { try makeP256(name) }
        } catch {
            fatalError("openssl could not make keys: \(error)")
        }
    }

    func path(_ file: String) -> String { folder.appending(path: file).path() }

    private func makeP256(_ name: String) throws {
        let arguments = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path("\(name).p256")]
        if try Tool.run("openssl", arguments).status != 0 { throw CocoaError(.executableLoad) }
        let publicHalf = ["pkey", "-in", path("\(name).p256"), "-pubout", "-out", path("\(name).pub")]
        if try Tool.run("openssl", publicHalf).status != 0 { throw CocoaError(.executableLoad) }
    }

    private func make(_ name: String, bits: Int) throws {
        let outcome = try Tool.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:\(bits)", "-nodes", "-keyout", path("\(name).key"), "-out", path("\(name).crt"), "-subj",
                "/CN=\(name)",
                "-days", "2",
            ])
        if outcome.status != 0 { throw CocoaError(.executableLoad) }
    }
}
