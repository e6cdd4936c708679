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

    static func signingKey(_ file: String, key: String) throws(SettingsFault) -> SigningKey {
        let pem = try SandboxSettings.read(file, key: key)
        do {
            return try SigningKey(pem: pem)
        } catch {
            throw SettingsFault(key: key, problem: "cannot be used: \(error.reason): \(file)")
        }
    }
}
