# two places
graph [
  directed 0
  node [ id 0 label "a" host_bandwidth_down "8 Mbit" host_bandwidth_up "4 Mbit" ]
  node [ id 1 label "b" host_bandwidth_down "1 Kibit" host_bandwidth_up "2 Kibit" ]
  edge [ source 0 target 0 latency "1 ms" packet_loss 0.0 ]
  edge [ source 0 target 1 latency "20 ms" packet_loss 0.0 ]
]
