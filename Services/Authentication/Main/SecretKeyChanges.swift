internal import AuthenticationCore
internal import ServiceKit
internal import Storage

extension Main {
    /// Takes in symmetric keys, and those of SAML, when their files change. Copies on other hosts hear first that this one has them.
    /// - Parameters:
    ///   - seals: The path of the keys for what is sealed in tokens that apps keep.
    ///   - secrets: The path of the keys for secrets that administrators write.
    static func takeInSecretKeys(
        _ environment: ServiceEnvironment<AuthenticationSettings>, _ service: AuthenticationProgram, _ store: Store, seals: String, secrets: String
    ) {
        let (settings, files) = (environment.settings, environment.files)
        environment.onChange(of: ([seals] + settings.olderSdkSealKeys).map(files.path)) {
            do {
                let keys = try Self.keys(files) { try AuthenticationKeys.storedTokenSeals(settings, path: seals, read: $0) }
                try await store.noteKeys([keys.fingerprint("sdkSealKey")])
                try service.sessions.stored.seals.adopt(keys.current, older: keys.older)
                environment.logger.info("sdk_seal_keys.reloaded")
            } catch {
                environment.logger.error("sdk_seal_keys.reload_refused", metadata: ["reason": "\(error)"])
            }
        }
        environment.onChange(of: settings.keyFiles.map(files.path)) {
            do {
                let keys = try Self.keys(files) { try AuthenticationKeys(settings, read: $0) }
                try await store.noteKeys(keys.fingerprints)
                try service.adopt(keys)
                environment.logger.info("keys.reloaded")
            } catch {
                environment.logger.error("keys.reload_refused", metadata: ["reason": "\(error); the keys from before stay"])
            }
        }
        environment.onChange(of: ([secrets] + settings.olderSecretsKeys).map(files.path)) {
            do {
                let keys = try Self.keys(files) { try AuthenticationKeys.secretKeys(settings, path: secrets, read: $0) }
                try await store.noteKeys([keys.fingerprint("secretsKey")])
                try await service.clients.secrets.adopt(keys)
                environment.logger.info("secret_keys.reloaded")
            } catch {
                environment.logger.error("secret_keys.reload_refused", metadata: ["reason": "\(error)"])
            }
        }
    }
}
