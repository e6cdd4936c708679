internal import COpenSSL

/// Collects DNS names that C code visits one by one.
enum DnsNames {
    /// - Parameter visit: Calls the function with the state for each name.
    static func read(_ visit: (UnsafeMutableRawPointer, boxoffice_name_visitor) -> Void) -> [String] {
        var names: [String] = []
        withUnsafeMutablePointer(to: &names) { target in
            visit(target) { state, name, count in
                guard let state, let name else { return }
                let text = UnsafeRawBufferPointer(start: name, count: count)
                state.assumingMemoryBound(to: [String].self).pointee.append(String(decoding: text, as: UTF8.self))
            }
        }
        return names
    }
}
