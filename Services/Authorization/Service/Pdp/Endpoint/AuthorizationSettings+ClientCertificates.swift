public import OutboundHttp

extension AuthorizationSettings {
    /// The certificates that decision points are shown, by their names.
    /// - Parameter path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyError` naming the setting and what is wrong with its files.
    public func loadClientCertificates(path: (String) -> String) throws(MediaTokenKeyError) -> ClientCertificates.Loaded {
        var all: ClientCertificates.Loaded = [:]
        for (name, files) in clientCertificates {
            do throws(ClientCertificateError) {
                all[name] = .success(try files.load(path: path))
            } catch {
                throw MediaTokenKeyError(key: "clientCertificates.\(name)", problem: "names files that are of no use: \(error)")
            }
        }
        return all
    }
}
