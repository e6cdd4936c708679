internal import NIOSSL

/// Reads keys and certificates that the settings name.
enum KeyFile {
    static func certificate(_ file: String, key: String) throws(SettingsFault) -> Certificate {
        let pem = try SandboxSettings.read(file, key: key)
        do {
            return try Certificate(pem: pem)
        } catch {
            throw SettingsFault(key: key, problem: "cannot be used: \(error.reason): \(file)")
        }
    }

    /// The identity of the HTTPS server.
    static func tls(_ files: SandboxSettings.Tls) throws(SettingsFault) -> NIOSSLContext {
        let certificates = try SandboxSettings.read(files.certificate, key: "tls.certificate")
        let key = try SandboxSettings.read(files.key, key: "tls.key")
        if let reason = SigningKey.encryption(key) { throw SettingsFault(key: "tls.key", problem: "cannot be used: \(reason): \(files.key)") }
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(certificates).map { NIOSSLCertificateSource.certificate($0) }
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: chain, privateKey: .privateKey(NIOSSLPrivateKey(bytes: key, format: .pem))))
        } catch {
            throw SettingsFault(key: "tls", problem: "cannot be used: \(error): \(files.certificate), \(files.key)")
        }
    }

    static func signingKey(_ file: String, key: String) throws(SettingsFault) -> SigningKey {
        let pem = try SandboxSettings.read(file, key: key)
        do {
            return try SigningKey(pem: pem)
        } catch {
            throw SettingsFault(key: key, problem: "cannot be used: \(error.reason): \(file)")
        }
    }
}
