extension ServiceEnvironment {
    /// Where a key is: in the file that the settings name, or in the data folder, where it is made at the first start.
    /// - Parameters:
    ///   - named: What the settings name.
    ///   - file: Its name in the data folder otherwise.
    ///   - setting: Where the settings could name one, for the message.
    /// - Throws: `StartFailure` when it cannot be made.
    public func keyFile(_ named: String?, else file: String, _ kind: MadeKey.Kind, setting: String) throws(StartFailure) -> String {
        if let named { return named }
        let path = dataFile(file)
        do throws(MadeKey.Unusable) {
            try MadeKey.ensure(path, kind)
        } catch {
            throw StartFailure("\(error) (or name a file under \(setting))")
        }
        return path
    }
}
