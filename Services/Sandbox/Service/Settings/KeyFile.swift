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
        for (file, key) in [(files.certificate, "tls.certificate"), (files.key, "tls.key")] { _ = try SandboxSettings.read(file, key: key) }
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(files.certificate).map { NIOSSLCertificateSource.certificate($0) }
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: chain, privateKey: .privateKey(NIOSSLPrivateKey(file: files.key, format: .pem))))
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
